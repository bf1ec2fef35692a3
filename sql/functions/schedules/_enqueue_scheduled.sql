-- Deploy qwf:functions/schedules/_enqueue_scheduled
-- Purpose: Enqueues the job or run of a schedule for the time at which it is due.
-- Guarantees: A failed enqueue is undone and returned as an error, so that other schedules
--   continue; not one that passes (see _is_passing_error). Label due has the time.
-- Notifies: as enqueue_many and enqueue_run.
-- Raises: errors that pass: the schedule stays due.
-- Called by: _fire_once.

begin;

create function _qwf.enqueue_scheduled(p_schedule qwf.schedules, p_due timestamptz)
returns _qwf.fired
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_started qwf.started;
  v_detail text;
begin
  v_started := _qwf.start_scheduled(p_schedule, p_due, _qwf.fire_labels(p_schedule, p_due));
  return row(v_started.job_id, v_started.run_id, null::text);
exception
  when others then
    if _qwf.is_passing_error(sqlstate) then
      raise;
    end if;
    get stacked diagnostics v_detail = pg_exception_detail;
    return row(null::bigint, null::bigint,
      _qwf.clip(concat_ws(': ', sqlstate, sqlerrm, nullif(v_detail, '')), 2000));
end $$;

commit;
