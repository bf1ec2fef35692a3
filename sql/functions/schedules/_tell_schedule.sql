-- Deploy qwf:functions/schedules/_tell_schedule
-- Purpose: Writes the event of a time of a schedule that failed or was left out, and remembers it
--   until a job or run of the schedule completes.
-- Guarantees: The rows of times that are added to one row of firings have one event.
-- Called by: _close_firings, _record_firing.

begin;

create function _qwf.tell_schedule(p_firing qwf.firings, p_kind text) returns bigint
language sql
set search_path = pg_catalog, pg_temp
as $$
  insert into _qwf.open_states as o (kind, subject, since)
  values (p_kind, coalesce(p_firing.backfill_of, p_firing.schedule), qwf.now())
  on conflict (kind, subject) do nothing;
  insert into _qwf.event_log (at, kind, subject, names, run_id, job_id, detail)
  values (qwf.now(), p_kind, coalesce(p_firing.backfill_of, p_firing.schedule),
    jsonb_build_object('schedule', coalesce(p_firing.backfill_of, p_firing.schedule)),
    p_firing.run_id, p_firing.job_id, jsonb_strip_nulls(jsonb_build_object(
      'due_at', p_firing.due_at, 'reason', p_firing.reason, 'result', p_firing.result,
      'times', nullif(p_firing.times, 1), 'error', left(p_firing.error, 500))))
  returning id
$$;

commit;
