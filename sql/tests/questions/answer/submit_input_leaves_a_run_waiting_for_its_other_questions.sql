-- 2 tests
select qwf.register_workflow('{"name": "w", "steps": [
  {"id": "one", "kind": "input", "widget": "confirm"}, {"id": "two", "kind": "input",
    "widget": "confirm"}]}');
select qwf.enqueue_run('w');
select qwf.submit_input(qwf_test.run(), 'two', 'true');
select results_eq('select status::text, waiting_nodes, open_nodes from qwf.runs', $$
  values ('awaiting_input', 1, 1) $$,
  'one of two is answered');
select qwf.submit_input(qwf_test.run(), 'one', 'true');
select is(qwf_test.run_state(), 'completed', 'both are');
