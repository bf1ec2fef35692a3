-- Verify qwf:views/failed_jobs

begin;

select id, run_id, node_id, task, queue, project, attempt, failures, losses, worker, error,
  finished_at from qwf.failed_jobs where false;

rollback;
