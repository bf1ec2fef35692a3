-- Deploy qwf:functions/schedules/_fire_due
-- Purpose: Enqueues everything that one schedule is due for, records it, and sets its next time.
--   Returns how many jobs or runs it has enqueued.
-- Guarantees: next_at changes in the transaction that enqueues, so that no time fires twice. Looks
--   at 100 times a call at most; the rest stays due. With catch_up one the latest of several missed
--   times fires; the others are recorded, and told of in a warning. A time that cannot be enqueued
--   is recorded and left out. A backfill is switched off at its end; so is a schedule that is never
--   due again (this server lacks its time zone), with the reason.
-- Locks: expects the schedule locked by the caller. The schedule that a backfill belongs to, if it
--   is free: else the backfill stays due.
-- Raises: errors that pass (see _is_passing_error), so that the time is not skipped.
-- Called by: _fire_schedules.

begin;

create function _qwf.fire_due(p_schedule qwf.schedules, p_now timestamptz) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_grace constant interval := '1 minute';
  v_schedule qwf.schedules := p_schedule;
  v_due timestamptz := p_schedule.next_at;
  v_start timestamptz := p_schedule.next_at;  -- the first time that may fire
  v_verdict text;
begin
  if p_schedule.backfill_of is not null then
    perform from qwf.schedules s where s.name = p_schedule.backfill_of
    for no key update skip locked;
    if not found and exists (select from qwf.schedules s where s.name = p_schedule.backfill_of) then
      return 0;
    end if;
  elsif p_schedule.catch_up = 'none' and v_due < p_now - v_grace then
    v_start := _qwf.next_fire(p_schedule, p_now - v_grace);
  elsif p_schedule.catch_up = 'one' then
    v_start := greatest(v_due, _qwf.latest_fire(p_schedule, p_now));
  end if;
  if v_start > v_due then
    v_schedule.skipped := v_schedule.skipped + _qwf.record_missed(p_schedule, v_start, p_now);
    v_due := v_start;
  end if;
  for v_turn in 1..100 loop
    exit when v_due is null or v_due > p_now;
    v_verdict := _qwf.firing_verdict(v_schedule, v_due);
    exit when v_verdict = 'wait';  -- stays due
    v_schedule := _qwf.fire_once(v_schedule, v_due, v_verdict, p_now);
    v_due := _qwf.next_due(v_schedule,
      case v_schedule.catch_up when 'all' then v_due else p_now end);
  end loop;
  if v_due is null and v_schedule.backfill_of is null then
    v_schedule.last_error := format('never due again: time zone %s', v_schedule.timezone);
  end if;
  update qwf.schedules s set
    next_at = v_due, enabled = v_due is not null,
    last_due_at = v_schedule.last_due_at, last_fired_at = v_schedule.last_fired_at,
    last_job_id = v_schedule.last_job_id, last_run_id = v_schedule.last_run_id,
    fired = v_schedule.fired, skipped = v_schedule.skipped, failed = v_schedule.failed,
    last_error = v_schedule.last_error
  where s.name = v_schedule.name;
  return v_schedule.fired - p_schedule.fired;
end $$;

commit;
