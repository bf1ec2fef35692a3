-- Deploy qwf:functions/schedules/_start_scheduled
-- Purpose: Enqueues the job or run of a schedule for a time, or for none.
-- Guarantees: References to due in the args and options have their values. The labels of the
--   schedule win over those of its options. The column schedule names the schedule, except of work
--   of somebody else into which a key has merged it. A ping of a receiver is tried three times
--   within minutes, because the next one follows.
-- Notifies: as enqueue_many and enqueue_run.
-- Raises: as enqueue_many, enqueue_run and _with_due.
-- Called by: fire_schedule, _enqueue_scheduled.

begin;

create function _qwf.start_scheduled(
  p_schedule qwf.schedules, p_due timestamptz, p_labels jsonb)
returns qwf.started
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_args jsonb := _qwf.with_due(p_schedule.args, p_schedule, p_due);
  v_options jsonb := _qwf.with_due(p_schedule.options, p_schedule, p_due);
  v_labels jsonb := coalesce(v_options -> 'labels', '{}') || p_labels;
  v_started qwf.started;
begin
  if p_schedule.workflow is not null then
    v_started.run_id := qwf.enqueue_run(p_schedule.workflow, v_args,
      priority => p_schedule.priority, key => v_options ->> 'key',
      out_dir => v_options ->> 'out_dir', project => p_schedule.project, labels => v_labels,
      once => (v_options ->> 'once')::boolean, limit_by => v_options ->> 'limit_by',
      max_attempts => (v_options ->> 'max_attempts')::int,
      backoff => nullif(v_options -> 'backoff', 'null'));
    update qwf.runs r set schedule = p_schedule.name
    where r.id = v_started.run_id and r.schedule is null and r.labels @> p_labels;
  elsif p_schedule.task = 'qwf.send' then
    v_started.job_id := (_qwf.insert_keyless(_qwf.read_jobs(jsonb_build_array(jsonb_build_object(
      'task', 'qwf.send', 'queue', 'qwf.alerts', 'args', p_schedule.args, 'labels', p_labels,
      'priority', p_schedule.priority, 'project', p_schedule.project,
      'requires', jsonb_build_object('receiver.' || (p_schedule.args ->> 'receiver'), 'true'),
      'max_attempts', 3, 'backoff', '[10, 60]'::jsonb)))))[1];
    update qwf.jobs j set schedule = p_schedule.name where j.id = v_started.job_id;
  else
    select e.job_id into v_started.job_id
    from qwf.enqueue_many(jsonb_build_array(v_options || jsonb_build_object(
      'task', p_schedule.task, 'args', v_args, 'queue', p_schedule.queue,
      'priority', p_schedule.priority, 'project', p_schedule.project, 'labels', v_labels))) e;
    update qwf.jobs j set schedule = p_schedule.name
    where j.id = v_started.job_id and j.schedule is null and j.labels @> p_labels;
  end if;
  return v_started;
end $$;

commit;
