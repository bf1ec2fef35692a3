-- 2 tests
select qwf_test.workflow('w', '[{"id": "a"},
  {"id": "tidy", "depends_on": ["a"], "run_if": "all_done"}]');
select qwf.enqueue_run('w');
select qwf_test.work();
select is(qwf_test.nodes(), 's/a completed, s/tidy queued', 'like any node');
select qwf_test.work();
select is(qwf_test.run_state(), 'completed', 'and the run completes');
