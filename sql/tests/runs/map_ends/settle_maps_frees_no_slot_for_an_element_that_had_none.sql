-- 2 tests
select qwf_test.workflow('w', '[{"id": "m", "map": {"$value": [1, 2, 3, 4, 5]}, "max_parallel": 1,
  "min_success": 1}]');
select qwf.enqueue_run('w');
select qwf.cancel_job(qwf_test.job('s/m[4]')), qwf.cancel_job(qwf_test.job('s/m[3]'));
select is(qwf_test.nodes(), 's/m blocked, s/m[0] queued, s/m[1] blocked, s/m[2] blocked, '
  's/m[3] cancelled, s/m[4] cancelled', 'one at a time');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
