-- 4 tests
select qwf_test.workflow('w', '[{"id": "m", "map": {"$value": [1, 2]}}]');
update qwf.settings set max_value_bytes = 1000;
select qwf.enqueue_run('w');
select qwf_test.claim(p_max_jobs => 2);
select qwf_test.report('s/m[0]', 'completed', jsonb_build_object('x', repeat('x', 900)));
update qwf.settings set max_value_bytes = 100;
select qwf_test.report('s/m[1]', 'completed', jsonb_build_object('x', repeat('x', 80)));
select is(qwf_test.state('s/m'), 'completed', 'sixteen times as much fits');
update qwf.settings set max_value_bytes = 50;
select qwf.retry_run(qwf_test.run(), 's/m[1]');
select qwf_test.claim(), qwf_test.report('s/m[1]');
select ok((select last_error ~ '^QW005' from qwf.jobs where node_id = 's/m'), 'more does not');
update qwf.settings set max_value_bytes = 1000;
select qwf.retry_run(qwf_test.run());
select is(qwf_test.nodes() || ', ' || qwf_test.run_state(),
  's/m completed, s/m[0] completed, s/m[1] completed, completed', 'no body runs again for that');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
