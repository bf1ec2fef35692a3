-- 6 tests
select qwf_test.set_now('2026-01-01');
select setval('qwf.prune_firing', 0);
select qwf.create_schedule('kept', 't', every => '1 h');
insert into qwf.firings (schedule, due_at, at, outcome, job_id, result, ended_at)
select s, qwf.now() + n * interval '1 s', qwf.now(), 'fired', n, 'failed', qwf.now()
from generate_series(1, 150) n, unnest('{kept,dropped}'::text[]) s;
update qwf.firings set result = 'completed' where schedule = 'kept' and job_id = 7;
insert into qwf.firings (schedule, at, outcome, job_id)
select 'dropped', qwf.now(), 'fired', qwf.enqueue('t');
select is((qwf.prune(1000) ->> 'firings')::int, 0, 'none before the retention is over');
select qwf_test.travel('31 days');
insert into qwf.firings (schedule, at, outcome, reason) values ('dropped', qwf.now(), 'skipped',
  'overlap');
select is((qwf.prune(100) ->> 'firings')::int between 1 and 100, true, 'at most so many a call');
do $$ begin perform qwf.prune(100) from generate_series(1, 5); end $$;
select is((select count(*) from qwf.firings where schedule = 'kept'), 101::bigint,
  'of a schedule the last 100 are kept, and the newest that completed');
select is((select min(job_id) from qwf.firings where schedule = 'kept'), 7::bigint,
  'which is this one');
select results_eq(
  $$ select outcome, result from qwf.firings where schedule = 'dropped' order by id $$,
  $$ values ('fired', null), ('skipped', null) $$, 'of one that is dropped what is open or young');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
