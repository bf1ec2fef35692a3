begin;
select plan(2);

select qwf.register_pipeline('{"name": "p", "nodes": [{"id": "a"}]}');
select qwf.register_workflow('{"name": "w", "steps": [{"id": "s", "kind": "pipeline",
  "pipeline": "p"}]}');
select qwf.register_workflow('{"name": "w", "steps": []}');
select qwf.register_pipeline('{"name": "p", "nodes": [{"id": "a"}, {"id": "b"}]}');
select is(_qwf.graph_for('w@1'), _qwf.graph_for('w@1'), 'is compiled once, and kept');
select is((select g.node_count from qwf.graphs g order by g.id desc limit 1), 2,
  'an old version takes the pipelines that are current');

select * from finish();
rollback;
