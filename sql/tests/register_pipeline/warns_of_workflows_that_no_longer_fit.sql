begin;
select plan(3);

select qwf.register_pipeline('{"name": "p", "outputs": {"k": {"$from": "a.k"}},
  "nodes": [{"id": "a"}]}');
select qwf.register_workflow('{"name": "w", "steps": [
  {"id": "s", "kind": "pipeline", "pipeline": "p"},
  {"id": "q", "kind": "input", "widget": "confirm", "depends_on": ["s"],
    "prompt": {"$from": "s.k"}}]}');
select is(qwf.register_pipeline('{"name": "p", "outputs": {"j": {"$from": "a.k"}},
  "nodes": [{"id": "a"}]}'), 2, 'it is registered all the same');
select throws_ok($$ select _qwf.graph_for('w') $$, 'QW003', 'workflow does not fit its pipelines',
  'the workflow is refused when it is to run');
select qwf_test.explains($$ select _qwf.graph_for('w') $$,
  'steps[1].prompt: step "s" exports no "k"', 'saying why');

select * from finish();
rollback;
