-- 3 tests
select qwf.enqueue('lost', queue => 'cpu'), qwf_test.attempt('lost', 'lost');
select qwf.enqueue('next', queue => 'cpu');
select qwf_test.attempt('lost', 'tempfail');
select qwf.change_job(qwf_test.job('next'), run_next => true),
  qwf.change_job(qwf_test.job('lost'), run_next => true);
select is(qwf_test.claim(), 'claimed next', 'a loss puts a job to the front once');
select is(qwf_test.claim(), 'claimed lost', 'then comes the other');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
