select qwf.register_workflow('{"name": "w", "steps": [
  {"id": "paint", "kind": "input", "widget": "paint_mask", "target": "mask", "prompt": "Paint",
   "source": {"$from": "photo"}, "initial_mask_opacity": 0.5, "layers": [{"$from": "photo.layer"}],
   "schema": {"type": "object", "properties": {"$ref": {}}}, "display_name": "Paint"}]}');
select is(n.input_spec, '{"widget": "paint_mask", "target": "mask", "prompt": "Paint",
  "source": {"$from": ["$context", "photo"]}, "initial_mask_opacity": 0.5,
  "layers": [{"$from": ["$context", "photo", "layer"]}],
  "schema": {"$value": {"type": "object", "properties": {"$ref": {}}}}}',
  'with absolute references')
from qwf_test.compiled('w', 'paint') n;
