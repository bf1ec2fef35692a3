-- 2 tests
select qwf.register_pipeline('{"name": "p", "nodes": [{"id": "a"}, {"id": "b", "depends_on": ["a"]},
  {"id": "c", "depends_on": ["b"]}]}');
select qwf.register_pipeline('{"name": "reader", "nodes": [{"id": "n",
  "inputs": {"x": {"$from": "one.k"}}}]}');
select results_eq($$ select qwf_test.problems('workflow', '{"name": "w", "steps": [
  {"id": "one", "kind": "pipeline", "pipeline": "p"},
  {"id": "two", "kind": "pipeline", "pipeline": "p", "inputs": {"x": {"$from": "one.k"}}},
  {"id": "three", "kind": "pipeline", "pipeline": "p", "depends_on": ["one"]},
  {"id": "four", "kind": "pipeline", "pipeline": "p", "depends_on": ["three"],
   "inputs": {"x": {"$from": "one.k"}, "y": {"$from": "two/c.k"}}},
  {"id": "five", "kind": "pipeline", "pipeline": "reader"},
  {"id": "six", "kind": "pipeline", "pipeline": "p", "inputs": {"x": {"$from": "six.k"}}}]}') p
  order by p $$, array[
  'steps[1].inputs.x: step "one" is not upstream: add "one" to depends_on',
  'steps[3].inputs.y: step "two" is not upstream: add "two" to depends_on',
  'steps[4].pipeline.nodes[0].inputs.x: step "one" is not upstream: add "one" to depends_on',
  'steps[5].inputs.x: "six" belongs to the same step'], 'and says what to add');
select results_eq($$ select qwf_test.problems('workflow', '{"name": "w", "steps": [
  {"id": "one", "kind": "pipeline", "pipeline": "p"},
  {"id": "two", "kind": "pipeline", "pipeline": "p", "depends_on": ["one/b"],
   "inputs": {"x": {"$from": "one/b.k"}, "y": {"$from": "one/a.k"}, "z": {"$from": "one/c.k"},
     "s": {"$from": "one.k"}}},
  {"id": "three", "kind": "pipeline", "pipeline": "p", "depends_on": ["two"],
   "inputs": {"x": {"$from": "one/a.k"}, "z": {"$from": "one/c.k"}}}]}') p order by p $$, array[
  'steps[1].inputs.s: step "one" is not upstream: add "one" to depends_on',
  'steps[1].inputs.z: step "one" is not upstream: add "one" to depends_on',
  'steps[2].inputs.z: step "one" is not upstream: add "one" to depends_on'],
  'a step that waits for a node may read that node and the nodes upstream of it');
