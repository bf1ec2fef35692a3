-- 2 tests
select qwf_test.workflow('w', '[{"id": "a"},
  {"id": "tidy", "depends_on": ["a"], "run_if": "all_done"}]');
select qwf.enqueue_run('w');
select qwf_test.work();
select qwf_test.attempt('s/tidy', 'fatal');
select is(qwf_test.run_state(), 'failed', 'its failure counts like any other');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
