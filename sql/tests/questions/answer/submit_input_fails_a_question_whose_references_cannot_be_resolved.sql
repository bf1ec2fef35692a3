-- 3 tests
select qwf_test.workflow('p', '[{"id": "a"}]');
select qwf.register_workflow('{"name": "w", "steps": [
  {"id": "s", "kind": "pipeline", "pipeline": "p"},
  {"id": "ask", "kind": "input", "widget": "choose_one", "depends_on": ["s"],
    "source": {"$from": "s.gone"}}]}');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/a');
select is(qwf_test.nodes(), 's/a completed, ask failed', 'there is nothing to choose from');
select matches((select error from qwf.runs), '^ask failed: QW004.*gone', 'the run says why');
select throws_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', 'null') $$, 'QW002', null,
  'it no longer waits');
