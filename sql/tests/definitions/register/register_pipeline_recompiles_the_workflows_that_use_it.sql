-- 3 tests
select qwf.register_pipeline('{"name": "p", "nodes": [{"id": "a"}]}');
select qwf.register_workflow('{"name": "w", "steps": [{"id": "s", "kind": "pipeline",
  "pipeline": "p"}]}');
select qwf.register_pipeline('{"name": "p", "nodes": [{"id": "a"}, {"id": "b",
  "depends_on": ["a"]}]}');
select results_eq('select node_count from qwf.graphs order by id', '{1,2}'::int[],
  'before the first run needs it');
select is(_qwf.graph_for('w'), (select max(id) from qwf.graphs), 'new runs use the new graph');
select qwf.register_pipeline('{"name": "p", "nodes": [{"id": "a"}]}');
select is(_qwf.graph_for('w'), (select min(id) from qwf.graphs),
  'registering the old pipeline again finds the old graph');
