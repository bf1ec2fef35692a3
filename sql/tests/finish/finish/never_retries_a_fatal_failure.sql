select qwf.enqueue('a', max_attempts => 9);
select qwf_test.attempt('a', 'fatal', error => 'no such file');
select results_eq('select status::text, failures, last_error from qwf.jobs', $$
  values ('failed', 1, 'no such file') $$, 'with any budget');
