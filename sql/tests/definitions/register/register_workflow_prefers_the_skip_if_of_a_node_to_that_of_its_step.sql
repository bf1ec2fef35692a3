select qwf.register_pipeline('{"name": "p", "nodes": [
  {"id": "a"}, {"id": "b", "depends_on": ["a"], "skip_if": {"$from": "a.none"}},
  {"id": "c", "skip_if": false}]}');
select qwf.register_workflow('{"name": "w", "steps": [{"id": "s", "kind": "pipeline",
  "pipeline": "p",
  "skip_if": {"$from": "quick"}}]}');
select results_eq('select node_id, skip_if from qwf.graph_nodes order by node_id', $$ values
  ('s/a', jsonb '{"$from": ["$context", "quick"]}'), ('s/b', '{"$from": ["s/a", "none"]}'),
  ('s/c', 'false') $$, 'each node has its own, or else that of the step');
