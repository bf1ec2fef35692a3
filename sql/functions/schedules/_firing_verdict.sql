-- Deploy qwf:functions/schedules/_firing_verdict
-- Purpose: Returns what to do about a time of a schedule: fire, wait, or leave it out for the
--   reason completed, open or overlap.
-- Guarantees: A time fires once, whether the schedule, a backfill or a person fires it: all of them
--   look under the lock of that schedule. Only a backfill with again fires for a time that has
--   completed.
-- Locks: expects the schedule, and the one that it backfills, locked by the caller.
-- Called by: _fire_due.

begin;

create function _qwf.firing_verdict(p_schedule qwf.schedules, p_due timestamptz) returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_taken text := _qwf.time_taken(coalesce(p_schedule.backfill_of, p_schedule.name), p_due);
begin
  if v_taken = 'open' or v_taken = 'completed' and p_schedule.again is not true then
    return v_taken;
  elsif p_schedule.backfill_of is not null then
    return case when _qwf.open_firings(p_schedule.name) < p_schedule.at_once then 'fire'
      else 'wait' end;
  elsif p_schedule.overlap = 'allow'
    or not _qwf.is_unfinished(p_schedule.last_job_id, p_schedule.last_run_id)
  then
    return 'fire';
  elsif p_schedule.overlap = 'replace' then
    return case when _qwf.cancel_last(p_schedule) then 'fire' else 'wait' end;
  end if;
  return case p_schedule.catch_up when 'all' then 'wait' else 'overlap' end;
end $$;

commit;
