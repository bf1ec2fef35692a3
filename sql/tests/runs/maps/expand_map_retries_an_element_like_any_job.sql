-- 3 tests
select qwf_test.workflow('w', '[{"id": "each", "map": {"$value": [1]},
  "retry": {"max_attempts": 2, "backoff": [5]}}]');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/each[0]', 'error');
select is(qwf_test.state('s/each[0]'), 'scheduled', 'a try is left');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
select qwf_test.attempt('s/each[0]');
select is(qwf_test.run_state(), 'completed', 'the second time');
