-- 5 tests
select qwf.register_pipeline('{"name": "p", "nodes": [{"id": "a"}, {"id": "b",
  "depends_on": ["a"]}]}');
select qwf.register_workflow('{"name": "w", "deadline": "1 h", "steps": [
  {"id": "s", "kind": "pipeline", "pipeline": "p"}]}');
select qwf.enqueue_run('w');
select qwf.claim('cpu', 'w', lease => '1 day');
select qwf_test.travel('59 min'), qwf.tick();
select is(qwf_test.run_state(), 'running', 'not yet');
select qwf_test.travel('1 min'), qwf.tick();
select is(qwf_test.run_state(), 'failed', 'now');
select ok((select error ~ '^the deadline passed at' from qwf.runs), 'it says why');
select is((select verdict from qwf.heartbeat('w', array[qwf_test.token('s/a')])), 'cancel',
  'a body stops');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
