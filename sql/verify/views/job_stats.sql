-- Verify qwf:views/job_stats

begin;

select hour, queue, task, outcome, count, wait_avg, wait_p50, wait_p90, wait_p99, wait_max,
  run_avg, run_p50, run_p90, run_p99, run_max from qwf.job_stats where false;

rollback;
