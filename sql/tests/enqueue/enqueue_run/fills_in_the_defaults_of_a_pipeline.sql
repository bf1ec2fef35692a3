select qwf.register_pipeline('{"name": "p", "inputs": {
  "type": "object", "required": ["image"],
  "properties": {"image": {"type": "string"}, "score": {"type": "number", "default": 0.5}}},
  "nodes": [{"id": "a", "node": "a", "inputs": {"i": {"$from": "pipeline.image"},
    "s": {"$from": "pipeline.score"}}}]}');
select qwf.register_workflow('{"name": "w", "steps": [
  {"id": "s", "kind": "pipeline", "pipeline": "p",
    "inputs": {"image": {"$from": "photo.path"}}}]}');
select qwf.enqueue_run('w', '{"photo": {"path": "a.png"}}');
select is((select inputs from qwf.claim('cpu', 'w')), '{"i": "a.png", "s": 0.5}',
  'what the step does not give');
