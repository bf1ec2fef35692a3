-- 2 tests
select qwf.enqueue('a', max_attempts => 2);
select qwf_test.attempt('a', 'error', error => 'boom', detail => '{"exit_code": 1}');
select results_eq('select last_error, last_exit_code from qwf.job_details',
  $$ values ('boom', 1) $$,
  'while it waits');
select qwf_test.attempt('a');
select results_eq('select last_error, last_exit_code from qwf.job_details', $$
  values (null::text, null::int) $$,
  'a completed job shows no error and no exit code of another attempt');
