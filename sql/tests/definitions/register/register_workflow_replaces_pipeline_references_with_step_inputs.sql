-- 3 tests
select qwf.register_pipeline('{"name": "p", "inputs": {"properties": {
    "a": {}, "b": {"default": [1, 2]}, "c": {"type": "string"}, "gone": {}}},
  "nodes": [{"id": "n", "inputs": {
    "ref": {"$from": "pipeline.a.x"}, "literal": {"$from": "pipeline.b.1"},
    "late": {"$from": "pipeline.c"}, "gone": {"$from": "pipeline.gone"},
    "else": {"$from": "pipeline.gone", "$default": 5}, "ctx": {"$from": "who.name"},
    "sure": {"$from": "pipeline.a.x", "$eq": 1}}},
    {"id": "all", "inputs": {"all": {"$from": "pipeline"}}},
    {"id": "const", "inputs": {"b": {"$from": "pipeline.b"}, "c": {"$value": {"$from": 1}}}}]}');
select qwf.register_workflow('{"name": "w", "steps": [
  {"id": "q", "kind": "input", "widget": "json", "target": "v"},
  {"id": "s", "kind": "pipeline", "pipeline": "p", "depends_on": ["q"],
   "inputs": {"a": {"$from": "q.v"}, "c": {"$from": "q.v.name"}}}]}');
select is(n.inputs, '{
  "ref": {"$from": ["q", "v", "x"]}, "literal": 2,
  "late": {"$check": {"$from": ["q", "v", "name"]}, "schema": {"type": "string"}, "input": "s.c"},
  "gone": null, "else": 5, "ctx": {"$from": ["$context", "who", "name"]},
  "sure": {"$from": ["q", "v", "x"], "$eq": 1}}', 'a reference, a literal, a default, nothing')
from qwf_test.compiled('w', 's/n') n;
select is(n.inputs, '{"all": {"a": {"$from": ["q", "v"]}, "b": [1, 2],
  "c": {"$check": {"$from": ["q", "v", "name"]}, "schema": {"type": "string"}, "input": "s.c"}}}',
  'all of them at once')
from qwf_test.compiled('w', 's/all') n;
select results_eq($$ select (n).inputs, (n).has_refs from qwf_test.compiled('w', 's/const') n $$,
  $$ values (jsonb '{"b": [1, 2], "c": {"$from": 1}}', false) $$,
  'inputs that need nothing from run time are resolved at once');
