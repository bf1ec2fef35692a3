-- 6 tests
select qwf.register_pipeline('{"name": "p", "inputs": {
  "type": "object", "required": ["image"],
  "properties": {"image": {"type": "string", "minLength": 3}, "score": {"type": "number",
    "maximum": 1, "default": 0.5}}},
  "nodes": [{"id": "a", "node": "a", "inputs": {"i": {"$from": "pipeline.image"},
    "s": {"$from": "pipeline.score"}}}]}');
select qwf.register_workflow('{"name": "w", "steps": [
  {"id": "s", "kind": "pipeline", "pipeline": "p", "inputs": {"image": {"$from": "photo"},
    "score": {"$from": "score"}}}]}');
select throws_ok($$ select qwf.enqueue_run('w', '{"photo": "a.png", "score": 2}') $$, 'QW005',
  'the context does not fit the workflow', 'too large');
select qwf_test.explains($$ select qwf.enqueue_run('w', '{"photo": "a.png", "score": 2}') $$,
  '%score%at most 1%',
  'the error says which and why');
select throws_ok($$ select qwf.enqueue_run('w', '{"score": 1}') $$, 'QW005', null, 'missing');
select qwf_test.explains($$ select qwf.enqueue_run('w', '{"photo": 7, "score": 2}') $$,
  '%image%string%score%',
  'all that is wrong at once');
select is_empty('select * from qwf.runs', 'nothing was written');
select lives_ok($$ select qwf.enqueue_run('w', '{"photo": "a.png", "score": 1}') $$,
  'one that fits');
