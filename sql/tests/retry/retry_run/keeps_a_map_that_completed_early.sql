-- 7 tests
select qwf_test.workflow('w', '[{"id": "m", "map": {"$value": [1, 2, 3]}, "min_success": 1,
    "stop_when_reached": true}, {"id": "other"}, {"id": "last", "depends_on": ["m", "other"]}]');
select qwf.enqueue_run('w');
select qwf_test.claim(p_max_jobs => 4);
select qwf_test.report('s/m[0]');
select qwf_test.report('s/other', 'fatal');
select is(qwf_test.run_state(), 'failed', 'the run ends while elements of the map still stop');
select qwf_test.report('s/m[1]', 'cancelled');
select qwf_test.report('s/m[2]', 'cancelled');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
select qwf.retry_run(qwf_test.run());
select is(qwf_test.nodes(), 's/m completed, s/other queued, s/last blocked, s/m[0] completed, '
  's/m[1] cancelled, s/m[2] cancelled', 'its losers do not run again');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
select qwf_test.attempt('s/other');
select qwf_test.attempt('s/last');
select is(qwf_test.run_state(), 'completed', 'and its dependants go on');
select qwf.retry_run(qwf_test.run(), 's/m[1]');
select is(qwf_test.nodes(), 's/m blocked, s/other completed, s/last blocked, s/m[0] completed, '
  's/m[1] queued, s/m[2] queued', 'unless one is named, though enough have completed');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
