-- Verify qwf:views/schedule_overview

begin;

select name, what, due, timezone, project, enabled, next_at, next_in, last_status, fired,
  skipped, failed, last_error, args, last_success_at from qwf.schedule_overview where false;

rollback;
