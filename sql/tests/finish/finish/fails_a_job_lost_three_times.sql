-- 2 tests
select qwf.enqueue('a', max_attempts => 9);
select qwf_test.attempt('a', 'lost', error => 'killed by signal 9');
select qwf_test.attempt('a', 'lost', error => 'killed by signal 9');
select is(qwf_test.state('a'), 'queued', 'after two');
select qwf_test.attempt('a', 'lost', error => 'killed by signal 9');
select results_eq($$
  select status::text, losses, failures, last_error ~ 'lost 3 times.*signal 9' from qwf.jobs
$$, $$ values ('failed', 3, 0, true) $$, 'after three, saying which');
