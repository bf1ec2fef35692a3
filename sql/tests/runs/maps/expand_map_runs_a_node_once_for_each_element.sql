-- 5 tests
select qwf_test.workflow('w', '[{"id": "scan"},
  {"id": "each", "depends_on": ["scan"], "map": {"$from": "scan.items"},
    "inputs": {"x": {"$from": "item.x"}, "i": {"$from": "index"}}},
  {"id": "sum", "depends_on": ["each"], "inputs": {"all": {"$from": "each"}}}]');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/scan', 'completed', '{"items": [{"x": 10}, {"x": 20}, {"x": 30}]}');
select is(qwf_test.nodes(), 's/scan completed, s/each blocked, s/sum blocked, '
  's/each[0] queued, s/each[1] queued, s/each[2] queued', 'three elements');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
select qwf_test.attempt('s/each[0]', 'completed', '{"y": 0}');
select qwf_test.claim(p_max_jobs => 2);
select qwf_test.report('s/each[2]', 'completed', '{"y": 2}');
select is((select progress from qwf.job_details where node_id = 's/each'), (2.0 / 3)::real,
  'two of three');
select qwf_test.report('s/each[1]', 'completed', '{"y": 1}');
select qwf_test.claim();
select is((select resolved_inputs from qwf.jobs where node_id = 's/sum'),
  '{"all": [{"y": 0}, {"y": 1}, {"y": 2}]}', 'their outputs, in the order of the list');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
