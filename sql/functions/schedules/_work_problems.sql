-- Deploy qwf:functions/schedules/_work_problems
-- Purpose: Returns what is wrong with the args and options of a schedule.
-- Guarantees: References are tried with a time of the schedule. Without one (its timing is wrong)
--   only what needs none is looked at.
-- Raises: QW001 for an unknown version, QW003 for a workflow that does not fit its pipelines.
-- Called by: _schedule_problems.

begin;

create function _qwf.work_problems(
  p_schedule qwf.schedules, p_due timestamptz, p_known_workflow boolean)
returns setof _qwf.problem
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_max_bytes int := (select s.max_value_bytes from qwf.settings s);
begin
  return query
    select v.path, coalesce(
        case when jsonb_typeof(v.value) is distinct from 'object' then 'must be a JSON object' end,
        _qwf.json_problem(v.value, v.max_bytes)),
      case when jsonb_typeof(v.value) = 'object' then 'pass large data by file or reference' end
    from (values ('args', p_schedule.args, v_max_bytes), ('options', p_schedule.options, 65536))
      v (path, value, max_bytes)
    where jsonb_typeof(v.value) is distinct from 'object'
      or _qwf.json_problem(v.value, v.max_bytes) is not null;
  if found then
    return;
  end if;
  return query
    select p.* from _qwf.due_problems(p_schedule.args, 'args') p
    union all
    select p.* from _qwf.due_problems(p_schedule.options, 'options') p;
  if found or p_due is null then
    return;
  end if;
  return query select p.* from _qwf.option_problems(p_schedule, p_due) p;
  if p_known_workflow then
    return query
      select 'args for ' || p.path, p.problem, p.hint
      from _qwf.context_problems(_qwf.graph_for(p_schedule.workflow),
        _qwf.with_due(p_schedule.args, p_schedule, p_due)) p
      union all
      select 'options.limit_by', 'a limit inside itself: ' || i || ' needs it, too',
        'give the runs another limit_by, or none'
      from _qwf.limit_inside(_qwf.graph_for(p_schedule.workflow),
        array[p_schedule.options ->> 'limit_by']) i
      where i is not null;
  end if;
end $$;

commit;
