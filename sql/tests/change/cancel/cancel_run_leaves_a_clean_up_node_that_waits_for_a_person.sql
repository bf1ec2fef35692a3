-- 2 tests
select qwf_test.workflow('w', '[{"id": "a"}, {"id": "c", "depends_on": ["a"],
  "run_if": "all_done", "on_failure": "ask"}]');
select qwf.enqueue_run('w');
select qwf_test.work();
select qwf_test.attempt('s/c', 'fatal');
select qwf.cancel_run(qwf_test.run());
select is(qwf_test.run_state(), 'awaiting_input', 'only a person is waited for');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
