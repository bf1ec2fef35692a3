-- 3 tests
select qwf.enqueue('a', max_attempts => 2), qwf.enqueue('b', max_attempts => 3);
select qwf_test.claim('default', 2);
select qwf_test.report('a', 'tempfail'), qwf_test.attempt('a', 'tempfail');
select is(qwf_test.state('a'), 'failed', 'a given number holds for transient failures too');
select qwf_test.report('b', 'tempfail'), qwf_test.attempt('b', 'error');
select is(qwf_test.state('b'), 'scheduled', 'both kinds count');
select qwf_test.attempt('b', 'tempfail');
select is(qwf_test.state('b'), 'failed', 'against the same budget');
