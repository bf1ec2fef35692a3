-- 2 tests
select qwf_test.workflow('w', '[{"id": "scan"},
  {"id": "each", "depends_on": ["scan"], "map": {"$from": "scan.items"},
    "inputs": {"x": {"$from": "item"}, "i": {"$from": "index"}, "root": {"$from": "scan.root"}}}]');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/scan', 'completed', '{"items": ["a", {"$from": "b"}], "root": "/r"}');
select results_eq($$ select inputs from qwf.claim('cpu', 'w', 2) $$, $$ values
  ('{"i": 0, "x": "a", "root": "/r"}'::jsonb), ('{"i": 1, "x": {"$from": "b"}, "root": "/r"}') $$,
  'the element is data, whatever it looks like');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
