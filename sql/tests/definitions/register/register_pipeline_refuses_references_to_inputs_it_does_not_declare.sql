-- 3 tests
select results_eq($$ select qwf_test.problems('pipeline', '{"name": "p",
  "inputs": {"properties": {"image": {}}}, "outputs": {"o": {"$from": "pipeline.img"}},
  "nodes": [{"id": "a", "inputs": {"x": {"$from": "pipeline.image.path"}}},
    {"id": "b", "inputs": {"x": {"$from": "pipeline.imgae"}}}]}') $$, array[
  'nodes[1].inputs.x: the pipeline declares no input "imgae"',
  'outputs.o: the pipeline declares no input "img"'], 'if it declares inputs');
select is_empty($$ select qwf_test.problems('pipeline', '{"name": "p",
  "nodes": [{"id": "a", "inputs": {"x": {"$from": "pipeline.image"}}}]}') $$,
  'if it declares none, the step decides');
select is_empty($$ select qwf_test.problems('pipeline', '{"name": "p",
  "inputs": {"properties": {}, "additionalProperties": true},
  "nodes": [{"id": "a", "inputs": {"x": {"$from": "pipeline.image"}}}]}') $$,
  'or if it allows additional inputs');
