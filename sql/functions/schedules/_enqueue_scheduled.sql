-- Deploy qwf:functions/schedules/_enqueue_scheduled
-- Purpose: Enqueues the job or run of a schedule.
-- Guarantees: A failed enqueue is undone and returned as an error, so that other schedules
--   continue; not one that passes (see _is_passing_error). Passes the args unchanged. Labels
--   schedule and due name the schedule and its time; origin names the schedule of a job.
-- Notifies: as enqueue and enqueue_run.
-- Raises: errors that pass: the schedule stays due.
-- Called by: _fire_schedule.

begin;

create function _qwf.enqueue_scheduled(p_schedule qwf.schedules, p_due timestamptz)
returns _qwf.fired
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_fired _qwf.fired;
  v_detail text;
  v_labels jsonb := jsonb_build_object(
    'schedule', p_schedule.name, 'due', (to_jsonb(p_due at time zone 'UTC') #>> '{}') || 'Z');
begin
  if p_schedule.workflow is not null then
    v_fired.run_id := qwf.enqueue_run(p_schedule.workflow, p_schedule.args,
      priority => p_schedule.priority, project => p_schedule.project, labels => v_labels);
  else
    v_fired.job_id := qwf.enqueue(p_schedule.task, p_schedule.args, queue => p_schedule.queue,
      priority => p_schedule.priority, project => p_schedule.project, labels => v_labels);
    update qwf.jobs j set origin = 'schedule:' || p_schedule.name where j.id = v_fired.job_id;
  end if;
  return v_fired;
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
