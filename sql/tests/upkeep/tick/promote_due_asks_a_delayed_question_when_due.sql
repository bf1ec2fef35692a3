-- 5 tests
select qwf.register_workflow('{"name": "w", "steps": [
  {"id": "ask", "kind": "input", "widget": "confirm"}]}');
select qwf.enqueue_run('w', run_at => qwf.now() + '1 h');
select is_empty('select * from qwf.pending_inputs', 'nobody is asked before');
select throws_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', 'true') $$, 'QW002', null,
  'nor may answer');
select qwf_test.travel('2 h');
select qwf.tick();
select is(qwf_test.run_state(), 'awaiting_input', 'then it is asked');
select isnt_empty('select * from qwf.pending_inputs', 'and shown in pending_inputs');
select is_empty('select * from qwf.check_invariants()', 'no invariant is broken');
