-- 3 tests
select qwf.enqueue('a');
select qwf_test.attempt('a', 'fatal', error => 'head' || repeat('x', 600000) || 'tail');
select ok(last_error ~ '^head' and last_error ~ 'tail$', 'what tells most') from qwf.jobs;
select ok(octet_length(last_error) between 200000 and 262144, 'at most 256 KiB') from qwf.jobs;
select results_eq('select error from qwf.job_attempts', 'select last_error from qwf.jobs',
  'in the history too');
