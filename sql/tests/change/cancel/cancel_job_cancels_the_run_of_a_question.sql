-- 3 tests
select qwf_test.question('confirm');
select is(qwf.cancel_job(qwf_test.job('ask')), 'cancelled', 'nobody needs to answer');
select is(qwf_test.run_state(), 'cancelled', 'with it goes its run');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
