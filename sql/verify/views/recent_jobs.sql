-- Verify qwf:views/recent_jobs

begin;

select id, run_id, node_id, task, queue, status, attempt, worker, error, created_at, started_at, finished_at, seconds from qwf.recent_jobs where false;

rollback;
