-- 2 tests
select is(qwf.register_pipeline('{
  "name": "greet", "display_name": "greet · hello world", "requires_gpu": false,
  "inputs": {"type": "object",
    "properties": {"name": {"type": "string", "default": "world", "maxLength": 64}}},
  "outputs": {"primary_file": {"type": "file", "mime": "text/plain"}, "summary_keys": ["greeted"]},
  "nodes": [{"id": "greet", "node": "greet", "depends_on": [],
    "inputs": [{"name": "name", "from": "pipeline.name"}],
    "outputs": [{"name": "hello.txt", "kind": "text"}], "gpu": false}]}'), 1, 'the pipeline');
select is(qwf.register_workflow('{
  "name": "greet", "display_name": "greet — hello world", "mode": "node",
  "steps": [{"id": "greet", "kind": "pipeline", "pipeline": "greet",
    "inputs": {"name": {"$from": "parcel.label"}}}]}'), 1, 'the workflow');
