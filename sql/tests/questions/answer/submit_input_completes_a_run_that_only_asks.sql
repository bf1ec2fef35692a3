-- 3 tests
select qwf_test.question('text');
select is(qwf_test.run_state(), 'awaiting_input', 'it waits from the start');
select qwf.submit_input(qwf_test.run(), 'ask', '"cat"');
select is(qwf_test.run_state(), 'completed', 'the answer completes it');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
