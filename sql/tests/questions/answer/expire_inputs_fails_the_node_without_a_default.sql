-- 4 tests
select qwf_test.question('confirm', '{"expires": "1 h"}');
select qwf_test.travel('1 h'), qwf.tick();
select is((select last_error from qwf.jobs), 'nobody answered within 01:00:00', 'it says why');
select is(qwf_test.run_state(), 'failed', 'the run fails');
select throws_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', 'true') $$, 'QW002',
  'not waiting for an answer', 'an answer is too late');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
