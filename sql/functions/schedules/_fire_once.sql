-- Deploy qwf:functions/schedules/_fire_once
-- Purpose: Fires a schedule for one time, or leaves the time out for a reason, and records it.
-- Guarantees: Returns the schedule with its counters and its last work; the caller stores it.
-- Locks: expects the schedule locked by the caller.
-- Notifies: as enqueue_many and enqueue_run.
-- Raises: errors that pass (see _is_passing_error), so that the time is not skipped.
-- Called by: _fire_due.

begin;

create function _qwf.fire_once(
  p_schedule qwf.schedules, p_due timestamptz, p_verdict text, p_now timestamptz)
returns qwf.schedules
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_schedule qwf.schedules := p_schedule;
  v_firing qwf.firings;
  v_fired _qwf.fired;
begin
  v_firing.schedule := p_schedule.name;
  v_firing.backfill_of := p_schedule.backfill_of;
  v_firing.due_at := p_due;
  v_firing.times := 1;
  v_firing.at := p_now;
  if p_verdict <> 'fire' then
    v_firing.outcome := 'skipped';
    v_firing.reason := p_verdict;
    v_schedule.skipped := v_schedule.skipped + 1;
  else
    v_fired := _qwf.enqueue_scheduled(p_schedule, p_due);
    v_firing.job_id := v_fired.job_id;
    v_firing.run_id := v_fired.run_id;
    v_firing.error := v_fired.error;
    v_schedule.last_error := v_fired.error;
    if v_fired.error is null then
      v_firing.outcome := 'fired';
      v_schedule.last_job_id := v_fired.job_id;
      v_schedule.last_run_id := v_fired.run_id;
      v_schedule.last_due_at := p_due;
      v_schedule.last_fired_at := p_now;
      v_schedule.fired := v_schedule.fired + 1;
    else
      v_firing.outcome := 'failed';
      v_schedule.failed := v_schedule.failed + 1;
    end if;
  end if;
  perform _qwf.record_firing(v_firing);
  return v_schedule;
end $$;

commit;
