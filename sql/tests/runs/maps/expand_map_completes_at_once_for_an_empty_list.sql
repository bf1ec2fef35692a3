-- 3 tests
select qwf_test.workflow('w', '[{"id": "each", "map": {"$value": []}},
  {"id": "sum", "depends_on": ["each"], "inputs": {"all": {"$from": "each"}}}]');
select qwf.enqueue_run('w');
select is(qwf_test.nodes(), 's/each completed, s/sum queued', 'and what depends on it goes on');
select is((select output from qwf.jobs where node_id = 's/each'), '[]', 'with an empty list');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
