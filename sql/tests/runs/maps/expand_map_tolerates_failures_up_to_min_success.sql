-- 6 tests
select qwf_test.workflow('w', '[{"id": "each", "map": {"$value": [1, 2, 3, 4]}, "min_success": 2},
  {"id": "pct", "map": {"$value": [1, 2, 3]}, "min_success": "50%", "queue": "gpu",
    "on_failure": "continue"}]');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/each[0]', 'fatal');
select qwf_test.attempt('s/each[1]', 'completed', '{"y": 1}');
select qwf_test.attempt('s/each[2]', 'fatal');
select qwf_test.attempt('s/each[3]', 'completed', '{"y": 3}');
select is((select output from qwf.jobs where node_id = 's/each'),
  '[null, {"y": 1}, null, {"y": 3}]', 'null for what failed');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
select qwf_test.attempt('s/pct[0]', 'fatal');
select is(qwf_test.state('s/pct'), 'blocked', 'half of three is two');
select qwf_test.attempt('s/pct[1]', 'fatal');
select is(qwf_test.state('s/pct'), 'failed', 'two cannot succeed any more');
select results_eq('select status::text, failed_nodes from qwf.runs',
  $$ values ('completed', 1) $$, 'the map was let go, the third element with it');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
