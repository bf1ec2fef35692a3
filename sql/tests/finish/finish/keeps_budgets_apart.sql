select qwf.enqueue('a', max_attempts => 2, backoff => '[0]');
select qwf_test.attempt('a', 'lost'), qwf_test.attempt('a', 'lost'), qwf_test.attempt('a', 'error'),
  qwf_test.attempt('a', 'released');
select results_eq('select status::text, attempt, failures, losses from qwf.jobs', $$
  values ('queued', 4, 1, 2) $$, 'losses and releases are not failures');
