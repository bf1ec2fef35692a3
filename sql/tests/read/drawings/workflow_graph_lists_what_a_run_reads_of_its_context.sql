-- 2 tests
select is(qwf.workflow_graph('{"name": "w", "steps": [
  {"id": "s", "kind": "pipeline", "pipeline": "p", "inputs": {
    "image": {"$from": "photo.path"}, "size": {"$from": "size", "$default": 7},
    "any": {"a": [{"$from": "deep.0.x"}]}}},
  {"id": "t", "kind": "pipeline", "pipeline": "p", "skip_if": {"$from": "fast", "$default": false},
    "inputs": {"image": {"$from": "second.path"},
      "any": {"$value": {"$from": ["$context", "no"]}}}},
  {"id": "ask", "kind": "input", "widget": "text", "prompt": {"$from": "greeting"},
    "default": {"$from": "none"}, "expires": 60}]}', '{"p": {"name": "p",
  "inputs": {"required": ["image"], "properties": {"image": {"type": "string", "minLength": 1},
    "size": {"type": "integer"}, "any": {}}},
  "nodes": [{"id": "a", "inputs": {"i": {"$from": "pipeline.image"}, "n": {"$from": "noise"}}}]}}')
  -> 'inputs', '[
  {"path": ["fast"], "required": false, "default": false},
  {"path": ["greeting"], "required": true},
  {"path": ["noise"], "required": true},
  {"path": ["size"], "required": false, "default": 7, "schema": {"type": "integer"}},
  {"path": ["photo", "path"], "required": true, "schema": {"type": "string", "minLength": 1}},
  {"path": ["second", "path"], "required": false},
  {"path": ["deep", "0", "x"], "required": true}]', 'paths, schemas and fallbacks');
select is(qwf.workflow_graph('{"name": "w", "steps": []}') -> 'inputs', '[]', 'or nothing');
