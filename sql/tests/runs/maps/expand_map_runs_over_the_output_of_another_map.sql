-- 2 tests
select qwf_test.workflow('w', '[
  {"id": "one", "map": {"$value": [1, 2]}, "inputs": {"n": {"$from": "item"}}},
  {"id": "two", "depends_on": ["one"], "map": {"$from": "one"},
    "inputs": {"m": {"$from": "item.n"}}}]');
select qwf.enqueue_run('w');
select qwf_test.work(), qwf_test.work();
select is((select output from qwf.jobs where node_id = 's/two'), '[{"m": 1}, {"m": 2}]',
  'in order');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
