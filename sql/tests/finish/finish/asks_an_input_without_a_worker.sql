-- 5 tests
select qwf_test.workflow('photo', '[{"id": "a"}]');
select qwf.register_workflow('{"name": "photo", "steps": [
  {"id": "s", "kind": "pipeline", "pipeline": "photo"},
  {"id": "ask", "kind": "input", "widget": "choose_one", "prompt": "Which?", "target": "pick",
    "depends_on": ["s"],
   "source": {"$from": "s.found"}},
  {"id": "then", "kind": "pipeline", "pipeline": "photo", "depends_on": ["ask"]}]}');
select qwf.enqueue_run('photo');
select qwf_test.attempt('s/a', output => '{"found": ["cat", "dog"]}');
select is(qwf_test.nodes(), 's/a completed, ask awaiting_input, then/a blocked',
  'the question waits for a person');
select is((select input_spec -> 'source' from qwf.jobs where id = qwf_test.job('ask')),
  '["cat", "dog"]',
  'the options are resolved');
select results_eq('select status::text, waiting_nodes, active_nodes from qwf.runs', $$
  values ('awaiting_input', 1, 0) $$,
  'the run waits for nothing else');
select is(qwf_test.claim('cpu', 9), 'claimed nothing', 'no worker is needed to ask');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
