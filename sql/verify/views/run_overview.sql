-- Verify qwf:views/run_overview

begin;

select id, workflow, version, status, project, priority, done, total, failed, running, waiting, error, created_at, started_at, finished_at, seconds from qwf.run_overview where false;

rollback;
