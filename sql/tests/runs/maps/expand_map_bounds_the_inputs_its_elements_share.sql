-- 3 tests
select qwf_test.workflow('w', '[{"id": "up"}, {"id": "m", "depends_on": ["up"],
  "map": {"$from": "up.items"}, "inputs": {"all": {"$from": "up.items"},
    "x": {"$from": "item"}}}]');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/up', 'completed', (
  select jsonb_build_object('items', jsonb_agg(repeat('x', 90))) from generate_series(1, 10000)));
select ok((select last_error ~ '^QW005: 10000 elements share inputs of' from qwf.jobs
  where node_id = 's/m'), 'ten thousand copies of a list of ten thousand');
select is((select count(*)::int from qwf.jobs where parent_id is not null), 0, 'none is inserted');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
