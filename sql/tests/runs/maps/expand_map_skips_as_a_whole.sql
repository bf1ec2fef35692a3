-- 2 tests
select qwf_test.workflow('w', '[{"id": "each", "map": {"$value": [1, 2]}, "skip_if": true}]');
select qwf.enqueue_run('w');
select is(qwf_test.nodes(), 's/each skipped', 'no element is made');
select is(qwf_test.run_state(), 'completed', 'the run is over');
