-- 7 tests
select qwf_test.set_now('2030-01-01');
select qwf.register_pipeline('{"name": "photo", "nodes": [
  {"id": "a", "node": "a", "inputs": {"pick": {"$from": "pipeline.pick"}}}]}');
select qwf.register_workflow('{"name": "photo", "steps": [
  {"id": "ask", "kind": "input", "widget": "text", "target": "pick"},
  {"id": "s", "kind": "pipeline", "pipeline": "photo", "depends_on": ["ask"],
   "inputs": {"pick": {"$from": "ask.pick"}}}]}');
select qwf.enqueue_run('photo');
select is(qwf_test.nodes(), 'ask awaiting_input, s/a blocked', 'before');
select ok(qwf.submit_input(qwf_test.run(), 'ask', '"cat"') > 0, 'returns the id of the answer');
select is(qwf_test.nodes(), 'ask completed, s/a queued', 'after');
select is(qwf_test.run_state(), 'running', 'the run continues');
select results_eq($$ select output, finished_at from qwf.jobs where id = qwf_test.job('ask') $$, $$
  values ('{"pick": "cat"}'::jsonb, '2030-01-01'::timestamptz) $$,
    'the answer is the output, under its target');
select is((select inputs from qwf.claim('cpu', 'w')), '{"pick": "cat"}', 'references can read it');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
