-- 4 tests
select qwf.register_pipeline('{"name": "p", "inputs": {"properties": {"image": {"type": "string"},
  "n": {"type": "integer"}, "size": {"properties": {"w": {"type": "integer", "default": 1}}}}},
  "nodes": [{"id": "a"}]}');
select qwf.register_workflow('{"name": "w", "steps": [
  {"id": "s", "kind": "pipeline", "pipeline": "p", "inputs": {"image": {"$from": "photo.path"},
    "n": {"$from": "n", "$default": 1}, "size": {"w": {"$from": "w", "$default": 2}}}},
  {"id": "t", "kind": "pipeline", "pipeline": "p", "skip_if": {"$from": "quick", "$default": true},
   "inputs": {"image": {"$from": "other"}}}]}');
select set_eq(format('select p.path || %L || p.problem from _qwf.context_problems(%s, %L) p', ' ',
    _qwf.graph_for('w'), c.context), c.problems, c.context::text)
from (values
  (jsonb '{"photo": {"path": "x"}}', '{}'::text[]),
  ('{"photo": {"path": "x"}, "n": 5}', '{}'),
  ('{}', '{"s.inputs.image the context has no photo.path"}'),
  ('{"photo": {"path": 7}, "n": "many", "w": 1.5}', '{
    "s.inputs.image input s.image must be of type string, not number",
    "s.inputs.n input s.n must be of type integer, not string",
    "s.inputs.size input s.size.w must be of type integer, not number"}')) c (context, problems);
