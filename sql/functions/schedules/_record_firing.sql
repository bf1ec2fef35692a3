-- Deploy qwf:functions/schedules/_record_firing
-- Purpose: Writes what came of a time of a schedule.
-- Guarantees: What did not fire for the same reason as the time before is added to its row, so that
--   a schedule that is never over leaves one row and not one a second.
-- Locks: expects the schedule locked by the caller.
-- Called by: fire_schedule, _fire_once, _record_missed.

begin;

create function _qwf.record_firing(p_firing qwf.firings) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_firing.outcome <> 'fired' then
    update qwf.firings f set
      since = coalesce(f.since, f.due_at), due_at = p_firing.due_at, at = p_firing.at,
      times = f.times + p_firing.times
    where f.id = (
        select l.id from qwf.firings l
        where l.schedule = p_firing.schedule order by l.id desc limit 1)
      and (f.outcome, f.reason, f.error)
        is not distinct from (p_firing.outcome, p_firing.reason, p_firing.error);
    if found then
      return;
    end if;
  end if;
  insert into qwf.firings (
    schedule, backfill_of, due_at, since, times, at, outcome, reason, error, job_id, run_id)
  values (
    p_firing.schedule, p_firing.backfill_of, p_firing.due_at, p_firing.since, p_firing.times,
    p_firing.at, p_firing.outcome, p_firing.reason, p_firing.error, p_firing.job_id,
    p_firing.run_id);
  if p_firing.outcome = 'failed' or p_firing.reason in ('overlap', 'missed') then
    perform _qwf.tell_schedule(p_firing, case p_firing.outcome
      when 'failed' then 'schedule_failed' else 'schedule_skipped' end);
  end if;
end $$;

commit;
