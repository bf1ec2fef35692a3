-- 3 tests
select throws_ok($$ select qwf.register_pipeline('{"nodes": [{}]}') $$, 'QW003',
  'invalid pipeline definition', 'is QW003');
select set_eq($$ select qwf_test.problems('pipeline', '{
  "name": "Bad Name", "dispaly_name": "x", "inputs": {"type": "string"},
  "outputs": {"o": {"$from": "nope.x"}},
  "nodes": [
    {"id": "a", "depends_on": ["c"], "queue": "cpuu", "timeout": "soon"},
    {"id": "a", "map": {"of": "x"}, "inputs": 3},
    7,
    {"id": "c", "depends_on": ["a", "z"], "inputs": {"x": {"$form": "a"}}}]}') $$, array[
  'name: "Bad Name" is not a valid name',
  'dispaly_name: unknown key',
  'inputs.type: must be "object"',
  'outputs.o: there is no node "nope" in this pipeline',
  'nodes[0].queue: there is no queue "cpuu"',
  'nodes[0].timeout: must be a duration of at most a year',
  'nodes[1].id: "a" is already the id of nodes[0]',
  'nodes[1].map: is neither a list nor an expression',
  'nodes[1].inputs: must be of type object or array, not number',
  'nodes[2]: must be of type object, not number',
  'nodes[3].depends_on[1]: there is no "z"',
  'nodes[3].inputs.x: "$form" is not an operator, or its operator is missing',
  'nodes: cycle: a -> c -> a'], 'each with its path');
select is_empty('select from qwf.pipelines', 'nothing is written');
