-- Verify qwf:views/failed_jobs

begin;

select id, run_id, node_id, task, queue, project, attempt, worker, finished_at, error from
  qwf.failed_jobs where false;

rollback;
