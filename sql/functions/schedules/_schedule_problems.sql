-- Deploy qwf:functions/schedules/_schedule_problems
-- Purpose: Returns what is wrong with a schedule.
-- Guarantees: Reports all problems at once. A schedule without problems could fire now.
-- Raises: QW001 for an unknown version, QW003 for a workflow that does not fit its pipelines.
-- Called by: create_schedule.

begin;

create function _qwf.schedule_problems(p_schedule qwf.schedules) returns setof _qwf.problem
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workflow text := split_part(p_schedule.workflow, '@', 1);
  v_known boolean := exists (select from qwf.workflows w where w.name = v_workflow);
  v_pings boolean := coalesce(p_schedule.task = 'qwf.send', false);
  v_due timestamptz;
begin
  return query
    select rule.path, rule.problem, rule.hint
    from (values
      ('name', (p_schedule.name ~ '^[a-z][a-z0-9_.-]{0,62}$') is not true,
        format('%L is not a valid name', left(p_schedule.name, 200)),
        'use 1 to 63 lower-case letters, digits, dots, dashes or underscores, a letter first'),
      ('name', p_schedule.name ~ '[.]backfill[.][0-9]+$', 'is a name that backfills have',
        'choose a name that does not end with .backfill and a number'),
      ('task', num_nonnulls(p_schedule.task, p_schedule.workflow) <> 1,
        'give either a task or a workflow',
        'task => ''name'' enqueues a job, workflow => ''name'' a run'),
      ('task', p_schedule.task !~ '^[^[:space:]]{1,200}$',
        'must be 1 to 200 characters without blanks', null),
      ('workflow', p_schedule.workflow is not null and not v_known,
        format('there is no workflow %L', left(p_schedule.workflow, 200)),
        coalesce(
          _qwf.did_you_mean(v_workflow, array(select w.name from qwf.workflows w where w.current)),
          'register it first: qwf apply DIR, or select qwf.register_workflow(''{...}'')')),
      ('project', octet_length(p_schedule.project) > 500, 'has more than 500 bytes', null),
      ('queue', p_schedule.queue is not null and p_schedule.workflow is not null,
        'has no effect for a workflow', 'its nodes name their queues'),
      ('args', v_pings and (_qwf.is_receiver(p_schedule.args ->> 'receiver')
          and p_schedule.args - 'receiver' = '{}') is not true,
        'of qwf.send must be {"receiver": NAME}', 'addresses are in qwf.toml of an agent'),
      ('options', v_pings and p_schedule.options <> '{}', 'of qwf.send must be empty', null),
      ('queue', p_schedule.task is not null and not v_pings
          and (starts_with(p_schedule.queue, 'qwf.')
            or not exists (select from qwf.queues q where q.name = p_schedule.queue)),
        format('there is no queue %L', left(p_schedule.queue, 200)),
        coalesce(_qwf.did_you_mean(p_schedule.queue, array(select q.name from qwf.queues q)),
          'create it first: select qwf.create_queue(''name'')')),
      ('catch_up', (p_schedule.catch_up in ('one', 'none', 'all')) is not true,
        'must be one, none or all', null),
      ('overlap', (p_schedule.overlap in ('skip', 'allow', 'replace')) is not true,
        'must be skip, allow or replace', null),
      ('overlap', p_schedule.overlap = 'replace' and p_schedule.catch_up = 'all',
        'replace loses times that catch_up all keeps', 'leave one of the two out')
    ) rule (path, violated, problem, hint)
    where rule.violated;
  return query select p.* from _qwf.expect_problems(p_schedule.expect, '{takes,every}') p;
  return query select p.* from _qwf.timing_problems(p_schedule) p;
  if not found then
    v_due := _qwf.next_fire(p_schedule, qwf.now());
  end if;
  return query
    select p.* from _qwf.work_problems(p_schedule, v_due, v_known) p where not v_pings;
end $$;

commit;
