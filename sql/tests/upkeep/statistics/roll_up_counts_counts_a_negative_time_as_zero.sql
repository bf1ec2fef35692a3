-- If a clock is set back, an attempt ends before it began.
insert into qwf.attempt_counts values
  ('2030-01-01', 'cpu', 'a', 'completed', '{-5}', '{-3600}');
select _qwf.roll_up_counts();
select results_eq('select wait_avg, wait_p50, run_avg, run_max from qwf.job_stats',
  'values (0.000, 0.000, 0.000, 0.000)', 'it counts as zero');
