-- 2 tests
select is(qwf.register_workflow('{"name": "w", "steps": []}'), 1, 'is registered');
select is((select node_count from qwf.graphs where id = _qwf.graph_for('w')), 0, 'has no nodes');
