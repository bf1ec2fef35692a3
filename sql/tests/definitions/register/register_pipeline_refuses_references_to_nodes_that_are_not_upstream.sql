select set_eq($$ select qwf_test.problems('pipeline', '{"name": "p", "nodes": [
  {"id": "a"}, {"id": "b", "depends_on": ["a"]},
  {"id": "c", "depends_on": ["b"], "inputs": {"x": {"$from": "a.x"}, "y": [{"$from": "d.x"}]}},
  {"id": "d", "inputs": [{"name": "x", "from": "a.x"}], "skip_if": {"$from": "c.x"}},
  {"id": "e", "inputs": {"x": {"$from": "e.x"}}},
  {"id": "f", "command": ["x", {"$from": "b.y"}]}]}') $$, array[
  'nodes[2].inputs.y[0]: node "d" is not upstream: add "d" to depends_on',
  'nodes[3].inputs.x: node "a" is not upstream: add "a" to depends_on',
  'nodes[3].skip_if: node "c" is not upstream: add "c" to depends_on',
  'nodes[4].inputs.x: refers to itself',
  'nodes[5].command[1]: node "b" is not upstream: add "b" to depends_on'],
  'and says what to add; upstream at any distance passes');
