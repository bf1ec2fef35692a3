-- 4 tests
select qwf_test.workflow('photo', '[{"id": "a"}]');
select qwf.register_workflow('{"name": "photo", "steps": [
  {"id": "ask", "kind": "input", "widget": "confirm", "target": "yes"},
  {"id": "s", "kind": "pipeline", "pipeline": "photo"}]}');
select qwf.enqueue_run('photo');
select is(qwf_test.run_state(), 'queued', 'a node is queued beside the question');
select qwf_test.claim();
select is(qwf_test.run_state(), 'running', 'a node runs beside it');
select qwf_test.report('s/a');
select is(qwf_test.run_state(), 'awaiting_input', 'only the question is left');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
