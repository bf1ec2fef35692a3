-- 3 tests
select qwf_test.workflow('w',
  '[{"id": "a"}, {"id": "b", "retry": {"max_attempts": 9}}, {"id": "c", "depends_on": ["a"]}]');
select qwf.enqueue_run('w');
select qwf_test.claim('cpu', 2);
select qwf.cancel_run(qwf_test.run());
select qwf_test.report('s/a'), qwf_test.report('s/b', 'error');
select is(qwf_test.nodes(), 's/a completed, s/b cancelled, s/c cancelled',
  'nothing is opened or tried again');
select is(qwf_test.run_state(), 'cancelled', 'it stays cancelled');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
