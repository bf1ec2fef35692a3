-- 2 tests
select qwf.register_pipeline('{"name": "p", "nodes": [{"id": "a"}]}');
select qwf.register_pipeline('{"name": "q", "nodes": [{"id": "b", "inputs": [
  {"name": "x", "from": "pipeline.x"}, {"name": "y", "from": "one.k"},
  {"name": "z", "from": "photo"}]}]}');
select qwf.register_workflow('{"name": "w", "steps": [
  {"id": "one", "kind": "pipeline", "pipeline": "p"},
  {"id": "two", "kind": "pipeline", "pipeline": "q", "depends_on": ["one"],
   "inputs": [{"name": "x", "from": "one/a.k"}]}]}');
select is(n.inputs, '{"x": {"$from": ["one/a", "k"]}, "y": {"$from": ["one/a", "k"]},
  "z": {"$from": ["$context", "photo"]}}', 'of a step and of a node, from anything upstream')
from qwf_test.compiled('w', 'two/b') n;
select results_eq($$ select qwf_test.problems('workflow', '{"name": "v", "steps": [
  {"id": "one", "kind": "pipeline", "pipeline": "p"},
  {"id": "two", "kind": "pipeline", "pipeline": "q", "inputs": [{"name": "x", "from": "one.k"}]}
  ]}') $$, array[
  'steps[1].inputs.x: step "one" is not upstream: add "one" to depends_on',
  'steps[1].pipeline.nodes[0].inputs.y: step "one" is not upstream: add "one" to depends_on'],
  'and of nothing else');
