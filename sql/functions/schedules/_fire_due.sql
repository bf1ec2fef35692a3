-- Deploy qwf:functions/schedules/_fire_due
-- Purpose: Enqueues everything that one schedule is due for, and sets its next time.
-- Guarantees: next_at changes in the transaction that enqueues, so that no time fires twice. Fires
--   at most 100 times a call; the rest stays due. A time that cannot be enqueued is counted and
--   skipped. A schedule that is never due again (this server lacks its time zone) is switched off,
--   with the reason. A warning tells which missed times do not fire.
-- Locks: expects the schedule locked by the caller.
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
  v_fired _qwf.fired;
  v_count int := 0;
begin
  if v_schedule.catch_up = 'none' and v_due < p_now - v_grace then
    v_due := _qwf.next_fire(v_schedule, p_now - v_grace);
    v_schedule.skipped := v_schedule.skipped + 1;
    perform _qwf.warn_of_missed(v_schedule, 'are dropped', p_schedule.next_at);
  elsif v_schedule.catch_up = 'one' and _qwf.next_fire(v_schedule, v_due) <= p_now - v_grace then
    perform _qwf.warn_of_missed(v_schedule, 'fire once', p_schedule.next_at);
  end if;
  for v_turn in 1..100 loop
    exit when v_due is null or v_due > p_now;
    if v_schedule.overlap = 'skip'
      and _qwf.is_unfinished(v_schedule.last_job_id, v_schedule.last_run_id) then
      exit when v_schedule.catch_up = 'all';  -- stays due until the last one has ended
      v_schedule.skipped := v_schedule.skipped + 1;
    else
      v_fired := _qwf.enqueue_scheduled(v_schedule, v_due);
      v_schedule.last_error := v_fired.error;
      if v_fired.error is null then
        v_schedule.last_job_id := v_fired.job_id;
        v_schedule.last_run_id := v_fired.run_id;
        v_schedule.last_due_at := v_due;
        v_schedule.last_fired_at := p_now;
        v_count := v_count + 1;
      else
        v_schedule.failed := v_schedule.failed + 1;
      end if;
    end if;
    v_due := _qwf.next_fire(v_schedule,
      case v_schedule.catch_up when 'all' then v_due else p_now end);
  end loop;
  update qwf.schedules s set
    next_at = v_due, enabled = v_due is not null,
    last_due_at = v_schedule.last_due_at, last_fired_at = v_schedule.last_fired_at,
    last_success_at = coalesce(_qwf.succeeded_at(s.last_job_id, s.last_run_id), s.last_success_at),
    last_job_id = v_schedule.last_job_id, last_run_id = v_schedule.last_run_id,
    fired = s.fired + v_count, skipped = v_schedule.skipped, failed = v_schedule.failed,
    last_error = case
      when v_due is null then format('never due again: time zone %s', v_schedule.timezone)
      else v_schedule.last_error end
  where s.name = v_schedule.name;
  return v_count;
end $$;

commit;
