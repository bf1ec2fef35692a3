-- 7 tests
select qwf_test.workflow('w', '[{"id": "a"}]');
select qwf.create_limit('etl', 1);
select qwf.enqueue_run('w', limit_by => 'etl');
select qwf.create_schedule('x', workflow => 'w', cron => '@daily',
  options => '{"limit_by": "etl", "max_attempts": 2, "backoff": [0]}');
create temp table fired as select run_id as id from qwf.fire_schedule('x');
select results_eq($$ select j.limit_by, (j.options).max_attempts, (j.options).backoff
  from fired join qwf.runs r on r.id = fired.id join qwf.jobs j on j.id = r.parent_id $$,
  $$ values ('etl', 2, '[0]'::jsonb) $$, 'its run has the limit and the tries');
select is((select r.status::text from fired join qwf.runs r on r.id = fired.id), 'queued',
  'and waits in line');
select qwf.cancel_run(id) from fired;
select _qwf.close_firings();
select is((select result from qwf.firings), 'cancelled', 'its end is noted');
select qwf.retry_run(id) from fired;
select results_eq('select result, reopened from qwf.firings', 'select null::text, true',
  'a retry in line opens the firing again');
select is_empty('select * from qwf.check_invariants()', 'invariants');
select qwf.cancel_run(id) from qwf.runs where finished_at is null;
select qwf.enable_schedule('x', false);
select qwf.drop_limit('etl');
select throws_ok(format('select qwf.retry_run(%s)', id), 'QW001', 'no such limit',
  'without its limit it would wait for ever')
from fired;
update qwf.jobs set finished_at = finished_at - interval '1 year' where queue = 'qwf.runs';
select _qwf.prune_jobs(1000);
select ok(exists (select from fired join qwf.runs r on r.id = fired.id
  join qwf.jobs j on j.id = r.parent_id), 'its place in line stays as long as the run');
