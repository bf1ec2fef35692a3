-- 8 tests
select qwf_test.workflow('w', '[{"id": "m", "map": {"$value": [{"x": 1}, {}, {"x": 3}, {"x": 4}]},
  "max_parallel": 2, "inputs": {"x": {"$from": "item.x"}}, "on_failure": "ask"}]');
select qwf.enqueue_run('w');
select is(qwf_test.nodes(), 's/m blocked, s/m[0] queued, s/m[1] awaiting_input, s/m[2] queued, '
  's/m[3] blocked', 'it asks, and takes no slot');
select isnt((select age from qwf.pending_inputs), null, 'it has an age');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
select qwf.submit_input(qwf_test.run(), 's/m[1]', '"skip"');
select is(qwf_test.state('s/m[3]'), 'blocked', 'so it frees no slot');
select qwf_test.work(), qwf_test.work();
select is((select output from qwf.jobs where node_id = 's/m'),
  '[{"x": 1}, null, {"x": 3}, {"x": 4}]', 'its output is null');
select qwf.enqueue_run('w');
select qwf.submit_input(qwf_test.run(), 's/m[1]', '"abort"');
select is(qwf_test.run_state(), 'failed', 'aborted, the map fails');
select qwf.retry_run(qwf_test.run());
select is(qwf_test.state('s/m[1]'), 'awaiting_input', 'a retry of the run asks again');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
