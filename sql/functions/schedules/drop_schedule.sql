-- Deploy qwf:functions/schedules/drop_schedule
-- Purpose: Deletes a schedule.
-- Guarantees: Its jobs, runs and firings stay; ticks go on to record how the work ends. Its
--   backfills go on.
-- Locks: the schedule. A tick that fires it comes first, or does not fire.

begin;

create function qwf.drop_schedule(name text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  delete from qwf.schedules s where s.name = drop_schedule.name;
  if not found then
    perform _qwf.raise_unknown_schedule(drop_schedule.name);
  end if;
end $$;
comment on function qwf.drop_schedule is
  'Deletes a schedule; the jobs and runs it has enqueued stay, so do its firings and backfills. '
  'QW001 no such schedule.';
call _qwf.allow('qwf.drop_schedule', 'qwf_admin');

commit;
