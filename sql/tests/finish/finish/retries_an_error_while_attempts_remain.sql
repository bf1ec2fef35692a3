-- 3 tests
select qwf.enqueue('a', max_attempts => 3);
select qwf_test.attempt('a', 'error');
select is(qwf_test.state('a'), 'scheduled', 'once');
select qwf_test.attempt('a', 'error');
select is(qwf_test.state('a'), 'scheduled', 'twice');
select qwf_test.attempt('a', 'error');
select is(qwf_test.state('a'), 'failed', 'three times');
