-- 2 tests
insert into qwf.attempt_counts values
  ('2030-01-01', 'cpu', 'one', 'completed', '{2.5}', '{7}'),
  ('2030-01-01', 'cpu', 'two', 'completed', '{0, 40}', '{1e9, 0.0001}');
select _qwf.roll_up_counts();
select results_eq($$
  select task, wait_p50, wait_p90, wait_p99, wait_max, run_p50, run_p90, run_p99, run_max
  from qwf.job_stats where task = 'one'
$$, $$ values ('one', 2.500, 2.500, 2.500, 2.500, 7.000, 7.000, 7.000, 7.000) $$,
  'a single one is every percentile');
select results_eq($$
  select task, wait_p50, wait_p90, wait_max, run_p50, run_p90, run_max
  from qwf.job_stats where task = 'two'
$$, $$ values ('two', 0.001, 40.000, 40.000, 0.001, 1e9::numeric, 1e9::numeric) $$,
  'the longest is known, below a millisecond nothing is told apart');
