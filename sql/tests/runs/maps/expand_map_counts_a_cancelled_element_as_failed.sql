-- 3 tests
select qwf_test.workflow('w', '[{"id": "each", "map": {"$value": [1, 2]}, "min_success": 1}]');
select qwf.enqueue_run('w');
select qwf.cancel_job(qwf_test.job('s/each[0]'));
select is(qwf_test.nodes(), 's/each blocked, s/each[0] cancelled, s/each[1] queued',
  'the map goes on');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
select qwf_test.work();
select is(qwf_test.run_state(), 'completed', 'one was enough');
