-- 3 tests
select qwf_test.question('confirm', '{"prompt": {"$from": "words"}}', '{"words": "Sure?"}');
select is(qwf_test.run_state(), 'awaiting_input', 'nothing else can be done');
select is((select prompt from qwf.pending_inputs where run_id = qwf_test.run()), 'Sure?',
  'with its words resolved');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
