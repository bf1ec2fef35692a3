-- 3 tests
select qwf_test.workflow('w', '[{"id": "a"},
  {"id": "tidy", "depends_on": ["a"], "run_if": "all_done"},
  {"id": "report", "depends_on": ["tidy"]},
  {"id": "leave", "depends_on": ["report", "tidy"], "run_if": "all_done"}]');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/a', 'fatal');
select qwf_test.attempt('s/tidy', 'fatal');
select is(qwf_test.nodes(), 's/a failed, s/tidy failed, s/report cancelled, s/leave queued',
  'in turn');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
select qwf_test.work();
select results_eq('select status::text, error from qwf.runs', $$ values ('failed',
  's/a failed: fatal') $$,
  'the first failure is the reason');
