-- 3 tests
select qwf.register_pipeline('{"name": "p", "outputs": {"k": {"$from": "a.k"}},
  "nodes": [{"id": "a"}]}');
select qwf.register_workflow('{"name": "w", "steps": [
  {"id": "s", "kind": "pipeline", "pipeline": "p"},
  {"id": "q", "kind": "input", "widget": "confirm", "depends_on": ["s"],
    "prompt": {"$from": "s.k"}}]}');
select is(qwf.register_pipeline('{"name": "p", "outputs": {"j": {"$from": "a.k"}},
  "nodes": [{"id": "a"}]}'), 2, 'the pipeline is registered anyway');
select throws_ok($$ select _qwf.graph_for('w') $$, 'QW003', 'workflow does not fit its pipelines',
  'a run of the workflow is refused');
select qwf_test.explains($$ select _qwf.graph_for('w') $$,
  'steps[1].prompt: step "s" does not export "k"', 'and the error says why');
