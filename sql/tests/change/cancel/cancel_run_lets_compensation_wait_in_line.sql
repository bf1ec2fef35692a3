-- 15 tests
select qwf.register_workflow('{"name": "order", "steps": [{"id": "charge", "node": "charge"},
  {"id": "refund", "node": "refund", "compensates": ["charge"]},
  {"id": "ship", "node": "ship", "depends_on": ["charge"]}]}');
select qwf.create_limit('line', 1);
create temp table run as select qwf.enqueue_run('order', limit_by => 'line') as id;
select qwf_test.works(2);
create temp table other as select n, qwf.enqueue_run('order', limit_by => 'line') as id
from generate_series(1, 2) n;
create function pg_temp.run() returns text language sql as $$
  select concat_ws(' ', r.status, r.ending, 'refund', (select j.status from qwf.jobs j
    where j.run_id = r.id and j.node_id = 'refund'))
  from qwf.runs r join run on run.id = r.id $$;
create function pg_temp.healthy(p_what text) returns text language sql as $$
  select is_empty('select * from qwf.check_invariants()', p_what) $$;

select qwf.retry_run(id, 'charge', completed => 'keep') from run;
select qwf.change_job(r.parent_id, priority => 1) from qwf.runs r join run on run.id = r.id;
select is(qwf.cancel_run(id, 'a mistake'), true, 'a run that waits for its retry is cancelled')
from run;
select is(pg_temp.run(), 'queued cancelled refund skipped',
  'its charge is to be taken back, when it is served');
select pg_temp.healthy('the database is healthy');
select is(qwf.cancel_run(id), false, 'a second call changes nothing') from run;
select is(qwf.cancel_job(r.parent_id), 'requested', 'nor does one for its job')
from qwf.runs r join run on run.id = r.id;
select throws_ok($$ select qwf.retry_run(id) from run $$, 'QW002', 'the run is not over',
  'it is not retried meanwhile');
select is((select array_agg(task) from qwf.claim('cpu', 'w', 9)), array['charge'],
  'only the run that has the place works');
select qwf.finish(j.id, j.token, 'fatal', error => 'boom')
from qwf.jobs j where j.queue = 'cpu' and j.status = 'running';
select is(pg_temp.run(), 'running cancelled refund queued', 'when that ends, it takes back');
select pg_temp.healthy('the database is healthy');
select is((select array_agg(run_id) from qwf.claim('cpu', 'w', 9)), array[(select id from run)],
  'alone');
select is(pg_temp.run(), 'running cancelled refund running', 'and runs meanwhile');
select qwf.finish(j.id, j.token, 'completed')
from qwf.jobs j where j.queue = 'cpu' and j.status = 'running';
select is(pg_temp.run(), 'cancelled cancelled refund completed', 'then it is cancelled');
select results_eq($$ select kind, detail ->> 'error'
  from _qwf.event_log e join run on e.run_id = run.id
  where kind in ('run_ended', 'retried') order by e.id desc limit 1 $$, format($$ values
  ('run_ended', 'cancelled by %s: a mistake') $$, session_user), 'its end is told, and who did it');
select isnt_empty($$ select from qwf.jobs j join other o on o.id = j.run_id
  where o.n = 2 and j.status = 'queued' $$, 'and the next run has the place');
select pg_temp.healthy('the database is healthy');
