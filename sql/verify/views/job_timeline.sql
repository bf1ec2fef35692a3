-- Verify qwf:views/job_timeline

begin;

select job_id, run_id, node_id, task, attempt, worker, outcome, reason, waited, took, exit_code,
  signal, max_rss_bytes, cpu_seconds, error, started_at, finished_at from qwf.job_timeline where
  false;

rollback;
