-- 9 tests
select qwf.register_pipeline('{"name": "p", "inputs": {"properties": {"size": {}, "names": {}}},
  "outputs": {"scores": {"$from": "each"}}, "nodes": [
  {"id": "list"}, {"id": "other"},
  {"id": "each", "depends_on": ["list", "other"],
   "map": {"$from": "list.items", "$filter": {"eq:kind": {"$from": "other.kind"}}},
   "inputs": {"it": {"$from": "item"}, "deep": [{"x": {"$from": "item.files.0", "$default": 1}}],
     "nth": {"$from": "index"}, "size": {"$from": "pipeline.size"},
     "all": {"$from": "list.items", "$filter": {"eq:id": {"$from": ["item", "id"]}}}}},
  {"id": "again", "depends_on": ["each"], "map": {"$from": "each"},
   "inputs": {"score": {"$from": "item.score"}, "first": {"$from": "each.0.score"}}},
  {"id": "named", "map": {"$from": "pipeline.names"}, "command": ["x", {"$from": "item"}]},
  {"id": "data", "map": [1], "inputs": {"x": {"$value": {"$b": 1}}}}]}');
select qwf.register_workflow('{"name": "w", "steps": [
  {"id": "s", "kind": "pipeline", "pipeline": "p",
   "inputs": {"size": {"$from": "size"}, "names": ["a", {"$value": {"$b": 1}}]}},
  {"id": "t", "kind": "pipeline", "pipeline": "p", "depends_on": ["s"],
   "inputs": {"size": {"$from": "s/each.0.score"}, "names": {"$from": "s.scores"}}}]}');
select is(n.map, '{"$from": ["s/list", "items"],
  "$filter": {"eq:kind": {"$from": ["s/other", "kind"]}}}', 'the list')
from qwf_test.compiled('w', 's/each') n;
select is(n.inputs, '{"it": {"$from": ["$item"]}, "nth": {"$from": ["$index"]},
  "deep": [{"x": {"$from": ["$item", "files", "0"], "$default": 1}}],
  "size": {"$from": ["$context", "size"]},
  "all": {"$from": ["s/list", "items"], "$filter": {"eq:id": {"$from": ["$item", "id"]}}}}',
  'its elements') from qwf_test.compiled('w', 's/each') n;
select is(n.ref_nodes, '{0,1}', 'both are read') from qwf_test.compiled('w', 's/each') n;
select is(n.map, '{"$from": ["s/each"]}', 'the list that a map produces')
from qwf_test.compiled('w', 's/again') n;
select is(n.inputs, '{"score": {"$from": ["$item", "score"]},
  "first": {"$from": ["s/each", "0", "score"]}}', 'an element of it')
from qwf_test.compiled('w', 's/again') n;
select is(n.map, '{"$value": ["a", {"$b": 1}]}', 'a list that the step gives')
from qwf_test.compiled('w', 's/named') n;
select is(n.inputs, '{"x": {"$value": {"$b": 1}}}', 'data stays marked as such')
from qwf_test.compiled('w', 's/data') n;
select is(n.map, '{"$from": ["s/each"]}', 'an export') from qwf_test.compiled('w', 't/named') n;
select is(n.inputs -> 'size', '{"$from": ["s/each", "0", "score"]}', 'step/node, by position')
from qwf_test.compiled('w', 't/each') n;
