-- 4 tests
-- Each round of prune_jobs begins at the lowest id, and passes all that is in the index still.
create or replace function qwf.now() returns timestamptz language sql volatile as
  $$ select timestamptz '2030-01-01' + current_setting('my.at')::interval $$;
select set_config('my.at', '0', false);
select setval('qwf.prune_job', 0);
insert into qwf.jobs (task, queue, status, position, finished_at)
select 't', 'cpu', 'completed', 1, qwf.now() - interval '1 year' from generate_series(1, 10001);
delete from qwf.jobs;
insert into qwf.jobs (task, queue, status, position, created_at, finished_at)
values ('t', 'cpu', 'completed', 1, qwf.now() - interval '29 days', qwf.now() - interval '29 days');

select is(qwf.tick() -> 'pruned', '0', 'nothing is old enough');
select is((select until from _qwf.rests where part = 'pruned'), qwf.now(),
  'and it rests for as long as it may: here no time has passed');
update _qwf.rests set until = qwf.now() + interval '9 s' where part = 'pruned';
update qwf.jobs set created_at = qwf.now() - interval '1 year',
  finished_at = qwf.now() - interval '1 year';
select is(qwf.tick() -> 'pruned', '0', 'while it rests it does nothing');
select set_config('my.at', '10 s', false);
select is(qwf.tick() -> 'pruned', '1', 'then it deletes again');
