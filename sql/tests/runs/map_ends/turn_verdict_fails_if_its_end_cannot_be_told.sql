-- 6 tests
select qwf_test.workflow('w', '[{"id": "m",
  "repeat": {"until": {"$from": "item.ready"}, "max": 3}}]');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/m[0]');
select matches((select last_error from qwf.jobs where node_id = 's/m'),
  '^QW004: repeat[.]until: unresolvable reference .*ready', 'what until reads is not there');
select is(qwf_test.run_state(), 'failed', 'the run fails at once, not after max turns');

select qwf_test.workflow('v', '[{"id": "m", "inputs": {"x": {"$from": "item.x"}},
  "repeat": {"until": {"$from": "item.ready", "$default": false}, "max": 3}}]');
select qwf.enqueue_run('v');
select qwf_test.attempt('s/m[0]', 'completed', '{"y": 1}');
select matches((select last_error from qwf.jobs where node_id = 's/m' and run_id = qwf_test.run()),
  '^turn 2 of 3 failed: QW004: .*x', 'a turn whose inputs are not there fails the repeat');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');

-- until may read other nodes
select qwf_test.workflow('u', '[{"id": "a"}, {"id": "m", "depends_on": ["a"],
  "inputs": {"x": {"$from": "item.x", "$default": {"$from": "a.x"}}},
  "repeat": {"until": {"$coalesce": [{"$from": "a.stop"}]}, "max": 3}}]');
select qwf.enqueue_run('u');
select qwf_test.attempt('s/a', 'completed', '{"x": 4, "stop": true}');
select qwf_test.attempt('s/m[0]', 'completed', '{"x": 4}');
select is((select output from qwf.jobs where node_id = 's/m' and run_id = qwf_test.run()),
  '{"x": 4}', 'one turn was enough');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
