-- 4 tests
select qwf_test.workflow('w', '[{"id": "each", "map": {"$value": [{"x": 1}, {}, {"x": 3}]},
  "min_success": 2, "max_parallel": 1, "inputs": {"x": {"$from": "item.x"}}}]');
select qwf.enqueue_run('w');
select is(qwf_test.nodes(), 's/each blocked, s/each[0] queued, s/each[1] failed, s/each[2] blocked',
  'that one alone');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
select qwf_test.work() from generate_series(1, 2);
select is((select output from qwf.jobs where node_id = 's/each'), '[{"x": 1}, null, {"x": 3}]',
  'the others run');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
