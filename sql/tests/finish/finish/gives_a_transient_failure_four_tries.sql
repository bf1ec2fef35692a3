-- 2 tests
select qwf.enqueue('a');
select qwf_test.attempt('a', 'tempfail'), qwf_test.attempt('a', 'tempfail'),
  qwf_test.attempt('a', 'tempfail');
select is(qwf_test.state('a'), 'scheduled', 'after three');
select qwf_test.attempt('a', 'tempfail', error => 'still not there');
select results_eq('select status::text, failures, attempt, last_error from qwf.jobs', $$
  values ('failed', 4, 4, 'still not there') $$, 'after four');
