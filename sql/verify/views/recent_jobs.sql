-- Verify qwf:views/recent_jobs

begin;

select id, run_id, node_id, task, queue, project, status, attempt, worker, seconds, created_at,
  error from qwf.recent_jobs where false;

rollback;
