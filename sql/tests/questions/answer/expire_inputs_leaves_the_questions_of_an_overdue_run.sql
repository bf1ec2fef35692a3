-- 3 tests
select qwf.register_workflow('{"name": "w", "deadline": "1 h", "steps": [
  {"id": "ask", "kind": "input", "widget": "confirm", "expires": "61 min", "default": true}]}');
select qwf.enqueue_run('w');
select qwf.drain_outbox();
select qwf_test.travel('2 h'), qwf.tick();
select is(qwf_test.run_state(), 'failed', 'the deadline passed before the question expired');
select ok((select error ~ '^the deadline passed' from qwf.runs), 'the run says so');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
