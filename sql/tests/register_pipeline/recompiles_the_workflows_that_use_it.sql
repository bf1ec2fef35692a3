begin;
select plan(3);

select qwf.register_pipeline('{"name": "p", "nodes": [{"id": "a"}]}');
select qwf.register_workflow('{"name": "w", "steps": [{"id": "s", "kind": "pipeline",
  "pipeline": "p"}]}');
select qwf.register_pipeline('{"name": "p", "nodes": [{"id": "a"}, {"id": "b",
  "depends_on": ["a"]}]}');
select results_eq('select node_count from qwf.graphs order by id', '{1,2}'::int[],
  'before the first run asks for it');
select is(_qwf.graph_for('w'), (select max(id) from qwf.graphs), 'new runs take the new graph');
select qwf.register_pipeline('{"name": "p", "nodes": [{"id": "a"}]}');
select is(_qwf.graph_for('w'), (select min(id) from qwf.graphs), 'a rollback finds the old one');

select * from finish();
rollback;
