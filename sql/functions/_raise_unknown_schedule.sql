-- Deploy qwf:functions/_raise_unknown_schedule
-- Purpose: Raises QW001 with the name that may have been meant.
-- Raises: QW001, always.
-- Called by: drop_schedule, enable_schedule.

begin;

create function qwf._raise_unknown_schedule(p_name text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = 'QW001',
    message = 'unknown schedule',
    detail = format('there is no schedule %L', p_name),
    hint = coalesce(
      qwf._did_you_mean(p_name, array(select s.name from qwf.schedules s)),
      'list them: select * from qwf.schedule_overview');
end $$;
revoke all on function qwf._raise_unknown_schedule from public;

commit;
