select qwf.enqueue('a');
select qwf_test.attempt('a', 'error', error => 'boom');
select results_eq($$
  select status::text, failures, losses, last_error, finished_at is not null, output from qwf.jobs
$$, $$ values ('failed', 1, 0, 'boom', true, null::jsonb) $$, 'one try, unless more are asked for');
