-- Verify qwf:views/schedule_overview

begin;

select name, what, due, timezone, enabled, next_at, next_in, last_fired_at, last_status, last_job_id, last_run_id, fired, skipped, failed, last_error, queue, priority, project, catch_up, overlap, args from qwf.schedule_overview where false;

rollback;
