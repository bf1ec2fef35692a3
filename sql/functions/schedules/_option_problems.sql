-- Deploy qwf:functions/schedules/_option_problems
-- Purpose: Returns what is wrong with the options of a schedule: those that its job or run does not
--   take, and values that it refuses.
-- Guarantees: Tries them with the values of a time of the schedule.
-- Called by: _work_problems.

begin;

create function _qwf.option_problems(p_schedule qwf.schedules, p_due timestamptz)
returns setof _qwf.problem
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_known text[] := case when p_schedule.workflow is not null
    then '{backoff,key,labels,limit_by,max_attempts,once,out_dir}'
    else array(
      select a.attname::text from pg_attribute a
      where a.attrelid = '_qwf.new_job'::regclass and a.attnum > 0
        and a.attname <> all ('{ord,task,args,queue,priority,project,run_at}')
      order by a.attnum) end;
  v_options jsonb;
  v_job _qwf.new_job;
  v_message text;
  v_detail text;
begin
  return query
  select 'options.' || k, 'is none of the options', 'options are '
    || array_to_string(v_known, ', ') || '; args, queue, priority and project are arguments'
  from jsonb_object_keys(p_schedule.options) k where k <> all (v_known);
  if found then
    return;
  end if;
  v_options := _qwf.with_due(p_schedule.options, p_schedule, p_due);
  if p_schedule.workflow is not null then
    perform _qwf.check_run(p_schedule.args, null, v_options ->> 'key',
      (v_options ->> 'once')::boolean, v_options ->> 'out_dir', p_schedule.project,
      coalesce(v_options -> 'labels', '{}'), v_options ->> 'limit_by',
      (v_options ->> 'max_attempts')::int, nullif(v_options -> 'backoff', 'null'));
  else
    v_job := (_qwf.read_jobs(jsonb_build_array(v_options || jsonb_build_object(
      'task', p_schedule.task, 'queue', p_schedule.queue))))[1];
    perform _qwf.check_job(v_job, '', s.max_value_bytes) from qwf.settings s;
  end if;
exception
  when sqlstate 'QW001' or sqlstate 'QW005' or data_exception then
    get stacked diagnostics v_message = message_text, v_detail = pg_exception_detail;
    return next row('options', coalesce(nullif(v_detail, ''), v_message), null)::_qwf.problem;
end $$;

commit;
