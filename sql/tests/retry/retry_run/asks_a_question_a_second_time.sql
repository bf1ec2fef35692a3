-- 4 tests
select qwf.register_pipeline('{"name": "p", "nodes": [
  {"id": "a", "inputs": {"x": {"$from": "pipeline.x"}}}]}');
select qwf.register_workflow('{"name": "w", "steps": [
  {"id": "ask", "kind": "input", "widget": "text", "target": "answer"},
  {"id": "s", "kind": "pipeline", "pipeline": "p", "depends_on": ["ask"],
   "inputs": {"x": {"$from": "ask.answer"}}}]}');
select qwf.enqueue_run('w');
select qwf.submit_input(qwf_test.run(), 'ask', '"one"');
select qwf_test.attempt('s/a', 'fatal', error => 'boom');
select qwf.retry_run(qwf_test.run(), 'ask');
select is(qwf_test.nodes(), 'ask awaiting_input, s/a blocked', 'it waits for a new answer');
select lives_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', '"two"') $$,
  'the answer is accepted');
select results_eq('select c.inputs from qwf.claim(''cpu'', ''w'') c',
  array[jsonb '{"x": "two"}'], 'and used');
select results_eq('select value from qwf.input_answers order by id',
  array[jsonb '"one"', '"two"'], 'both are kept');
