-- 9 tests
select qwf.register_pipeline('{"name": "p", "inputs": {"required": ["image", "n"], "properties": {
  "image": {"type": "string"}, "n": {"type": "integer", "minimum": 1},
  "cfg": {"type": "object", "properties": {"k": {"default": 7}}}}}, "nodes": [
  {"id": "a", "inputs": {"image": {"$from": "pipeline.image"},
    "k": {"$from": "pipeline.cfg.k"}}}]}');
select results_eq(format('select qwf_test.step_problems(%L)',
    jsonb '{"kind": "pipeline", "pipeline": "p"}' || jsonb_build_object('inputs', c.inputs)),
  c.problems, c.inputs::text)
from (values
  (jsonb '{"image": "x", "n": 1}', '{}'::text[]),
  ('{"image": {"$from": "photo.path"}, "n": 1, "cfg": {}}', '{}'),
  ('{"image": {"$value": "x"}, "n": 1}', '{}'),
  ('{"image": "x"}', '{"steps[1].inputs.n: is missing: the pipeline requires it"}'),
  ('{"image": "x", "n": 0}', '{"steps[1].inputs.n: must be at least 1"}'),
  ('{"image": 3, "n": 1}', '{"steps[1].inputs.image: must be of type string, not number"}'),
  ('{"image": {"$value": 3}, "n": 1}',
    '{"steps[1].inputs.image: must be of type string, not number"}'),
  ('{"image": "x", "n": 1, "imgae": "y"}',
    '{"steps[1].inputs.imgae: the pipeline declares no such input"}'),
  ('{"image": {"$coalesce": []}, "n": 1}',
    '{"steps[1].inputs.image: unresolvable: no candidate of \"$coalesce\" has a value"}')
) c (inputs, problems);
