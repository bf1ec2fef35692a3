-- Deploy qwf:functions/schedules/_raise_unknown_schedule
-- Purpose: Raises QW001 and suggests the name that was probably meant.
-- Raises: QW001, always.
-- Called by: backfill, drop_schedule, due_times, enable_schedule, fire_schedule.

begin;

create function _qwf.raise_unknown_schedule(p_name text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = 'QW001',
    message = 'unknown schedule',
    detail = format('there is no schedule %L', left(p_name, 200)),
    hint = coalesce(
      _qwf.did_you_mean(p_name, array(select s.name from qwf.schedules s)),
      'list them: select * from qwf.schedule_overview');
end $$;

commit;
