-- 2 tests
select qwf.register_pipeline('{"name": "p", "nodes": [{"id": "a"}]}');
select qwf.register_workflow('{"name": "w", "steps": [{"id": "s", "kind": "pipeline",
  "pipeline": "p"}]}');
select qwf.register_workflow('{"name": "w", "steps": []}');
select qwf.register_pipeline('{"name": "p", "nodes": [{"id": "a"}, {"id": "b"}]}');
select is(_qwf.graph_for('w@1'), _qwf.graph_for('w@1'), 'it is compiled once and stored');
select is((select g.node_count from qwf.graphs g order by g.id desc limit 1), 2,
  'an old version uses the current pipelines');
