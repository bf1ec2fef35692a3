select qwf.enqueue('ran', max_attempts => 9, backoff => '[0]');
select qwf_test.attempt('ran', 'error', detail => '{"batch": {"size": "many", "jobs": [1]}}');
select qwf_test.attempt('ran', 'error', detail => '{"batch": [1, 2]}');
select qwf_test.attempt('ran', 'completed', detail => '{"batch": {"size": 2, "jobs": [1, 2]}}');
select results_eq(
  $$ select attempt, batch from qwf.attempt_overview order by attempt $$,
  $$ values (1, null), (2, null), (3, '{"size": 2, "jobs": [1, 2]}'::jsonb) $$,
  'only what has the form of a batch is shown');
