-- 6 tests
-- Runs with their nodes, standalone jobs, workers; with all that is kept about them.
select qwf_test.workflow('w', '[{"id": "a"}]');
select qwf.enqueue_run('w');
select qwf.enqueue('old');
select qwf.register_worker('box', 'cpu');
select qwf_test.work(), qwf_test.work('default');
select is((select count(*) from qwf.job_attempts), 2::bigint, 'two attempts are kept');
select is(qwf.prune(),
  '{"runs": 0, "jobs": 0, "events": 0, "firings": 0, "workers": 0, "minutes": 0, "signals": 0,
    "alerts": 0}',
  'nothing is old enough');
select qwf_test.travel('31 days');
select is(qwf.prune(),
  '{"runs": 1, "jobs": 1, "events": 0, "firings": 0, "workers": 1, "minutes": 0, "signals": 0,
    "alerts": 0}',
  'everything is old enough');
select is_empty('select * from qwf.runs', 'no run');
select is_empty('select * from qwf.jobs', 'no job');
select is_empty('select * from qwf.job_attempts', 'no attempt');
