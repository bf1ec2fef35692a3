-- Verify qwf:schema/schedules

begin;

select name, task, workflow, cron, minute, hours, every, anchor, timezone, args, queue, priority, project, catch_up, overlap, enabled, next_at, last_due_at, last_fired_at, last_job_id, last_run_id, last_success_at, fired, skipped, failed, last_error, created_at from qwf.schedules where false;
select null::_qwf.cron_field;
select null::_qwf.cron;
select null::_qwf.fired;

rollback;
