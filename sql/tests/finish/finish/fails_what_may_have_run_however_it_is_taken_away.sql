-- 7 tests
create temp table w as
select t.task, qwf.register_worker('box-' || t.task, 'cpu', '{"writes_begun": true}') as id
from unnest('{lapsed,stopped,off}'::text[]) t (task);
create function pg_temp.says(p_task text) returns text language sql as $$
  select j.status || ': ' || regexp_replace(j.last_error, '(worker).*', '\1')
  from qwf.jobs j where j.id = qwf_test.job(p_task) $$;
select qwf_test.set_now('2026-01-01 12:00Z');
select qwf.enqueue(w.task, queue => 'cpu', at_most_once => true) from w;
select c.task from w, qwf.claim('cpu', w.id) c;
select qwf.progress(j.id, j.token, begun => true) from qwf.jobs j;

select qwf.deregister_worker(j.claimed_by) from qwf.jobs j where j.task = 'stopped';
select is(pg_temp.says('stopped'), 'failed: it may have run: given back by its worker',
  'its worker stops');
select qwf.worker_control(w.host, 'cpu', 'off', 'hard')
from qwf.workers w join qwf.jobs j on j.claimed_by = w.id where j.task = 'off';
select qwf.heartbeat(j.claimed_by, array[j.token]) from qwf.jobs j where j.task = 'off';
select is(pg_temp.says('off'), 'failed: it may have run: the worker', 'its worker is switched off');
select qwf_test.travel('1 hour');
select _qwf.reclaim();
select is(pg_temp.says('lapsed'), 'failed: it may have run: lease of worker', 'its lease lapses');
select is((select array_agg(w) from qwf.why_not(qwf_test.job('lapsed')) w) [2],
  'look whether it did, and if it did not: qwf retry job ' || qwf_test.job('lapsed'), 'what to do');

select qwf.enqueue('cancelled', queue => 'cpu', at_most_once => true);
select qwf.claim('cpu', 'another');
select qwf.cancel_job(qwf_test.job('cancelled'), 'no need');
select qwf_test.report('cancelled', 'cancelled');
select matches(pg_temp.says('cancelled'), '^cancelled: cancelled by .*: no need; it may have run$',
  'a person cancels it: a worker that cannot write begun has begun');
select is((select count(*) from qwf.jobs j where j.begun), 4::bigint, 'all may have run');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
