-- Deploy qwf:functions/alerts/_action_problems
-- Purpose: Returns everything that is wrong with what a rule does.
-- Guarantees: A queue or workflow that does not exist is a problem. Who hears of it is a name: an
--   address is none.
-- Called by: _alert_problems.

begin;

create function _qwf.action_problems(p_do jsonb) returns setof _qwf.problem
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_task text := p_do ->> 'task';
begin
  if jsonb_typeof(p_do) is distinct from 'object'
    or num_nonnulls(p_do ->> 'receiver', v_task, p_do ->> 'workflow') <> 1
  then
    return next ('do', 'one of receiver, task, workflow', null)::_qwf.problem;
    return;
  end if;
  return query
    select 'do.' || k, 'unknown key',
      'the known keys are receiver; task, queue, args; workflow, args'
    from jsonb_object_keys(p_do) k
    where not k = any (case when p_do ? 'receiver' then '{receiver}'
      when p_do ? 'task' then '{task,queue,args}' else '{workflow,args}' end::text[])
    union all
    select 'do.receiver', 'must be the name of a receiver: letters, digits, - and _',
      'addresses are in qwf.toml of an agent: [receiver.NAME]'
    where not _qwf.is_receiver(p_do ->> 'receiver')
    union all
    select 'do.task', '1 to 200 characters without blanks, not beginning with qwf.', null
    where v_task !~ '^[^[:space:]]{1,200}$' or starts_with(v_task, 'qwf.')
    union all
    select 'do.queue', format('there is no queue %s', left(p_do ->> 'queue', 100)), null
    where p_do ? 'queue' and (starts_with(p_do ->> 'queue', 'qwf.') or not exists (
      select from qwf.queues q where q.name = p_do ->> 'queue'))
    union all
    select 'do.workflow', format('there is no workflow %s', left(p_do ->> 'workflow', 100)), null
    where p_do ? 'workflow' and not exists (
      select from qwf.workflows w where w.name = split_part(p_do ->> 'workflow', '@', 1))
    union all
    select 'do.args', 'must be an object', null
    where jsonb_typeof(p_do -> 'args') <> 'object';
end $$;

commit;
