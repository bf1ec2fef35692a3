-- Deploy qwf:functions/schedules/_start_scheduled
-- Purpose: Enqueues the job or run of a schedule, with these labels.
-- Guarantees: Passes the args unchanged. The label schedule and the column schedule name the
--   schedule.
-- Notifies: as enqueue and enqueue_run.
-- Raises: as enqueue and enqueue_run.
-- Called by: fire_schedule, _enqueue_scheduled.

begin;

create function _qwf.start_scheduled(p_schedule qwf.schedules, p_labels jsonb)
returns qwf.started
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_started qwf.started;
  v_labels jsonb := jsonb_build_object('schedule', p_schedule.name) || p_labels;
begin
  if p_schedule.workflow is not null then
    v_started.run_id := qwf.enqueue_run(p_schedule.workflow, p_schedule.args,
      priority => p_schedule.priority, project => p_schedule.project, labels => v_labels);
    update qwf.runs r set schedule = p_schedule.name where r.id = v_started.run_id;
  else
    v_started.job_id := qwf.enqueue(p_schedule.task, p_schedule.args, queue => p_schedule.queue,
      priority => p_schedule.priority, project => p_schedule.project, labels => v_labels);
    update qwf.jobs j set schedule = p_schedule.name where j.id = v_started.job_id;
  end if;
  return v_started;
end $$;

commit;
