-- Schedules created, enabled, disabled and dropped. Locks: the schedule, which ticks skip
-- meanwhile; creating one, all schedules.

-- Creates or replaces a schedule that enqueues a task or a workflow repeatedly. An application
-- may call it at every start. If the timing is unchanged, next_at stays; a grid keeps its
-- anchor; and what an operator switched off stays off, unless enabled is given.
-- Locks: schedules, for a new one; the schedule, which ticks skip meanwhile.
-- Raises: QW005 with all problems; QW001, QW003 for a workflow that could not be enqueued.
create function qwf.create_schedule(
  name text, task text default null, workflow text default null, cron text default null,
  minute int default null, hours int[] default null, every interval default null,
  anchor timestamptz default null, timezone text default 'UTC', args jsonb default '{}',
  queue text default 'default', catch_up text default 'one', overlap text default 'skip',
  enabled boolean default null, priority int default 100, project text default '',
  options jsonb default '{}', expect jsonb default null)
returns timestamptz
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := qwf.now();
  v_old qwf.schedules;
  v_new qwf.schedules;
begin
  select s.* into v_old from qwf.schedules s where s.name = create_schedule.name for no key update;
  if not found then  -- the first of two calls creates it, the second sees it
    perform _qwf.take_lock('schedules');
    select s.* into v_old
    from qwf.schedules s where s.name = create_schedule.name for no key update;
  end if;
  v_new := v_old;
  v_new.name := create_schedule.name;
  v_new.task := create_schedule.task;
  v_new.workflow := create_schedule.workflow;
  v_new.cron := create_schedule.cron;
  v_new.minute := create_schedule.minute;
  v_new.hours := case when create_schedule.hours is not null then array(
    select distinct h from unnest(create_schedule.hours) h order by h) end;
  v_new.every := create_schedule.every;
  v_new.anchor := coalesce(create_schedule.anchor,
    case when v_old.every = create_schedule.every then v_old.anchor
      when create_schedule.every is not null then date_trunc('second', v_now) end);
  v_new.timezone := create_schedule.timezone;
  v_new.args := create_schedule.args;
  v_new.queue := case
    when create_schedule.task is null then nullif(create_schedule.queue, 'default')
    when create_schedule.task = 'qwf.send' then 'qwf.alerts'
    else create_schedule.queue end;
  v_new.catch_up := create_schedule.catch_up;
  v_new.overlap := create_schedule.overlap;
  v_new.enabled := coalesce(create_schedule.enabled, v_old.enabled, true);
  v_new.priority := coalesce(create_schedule.priority, 100);
  v_new.project := coalesce(create_schedule.project, '');
  v_new.options := coalesce(create_schedule.options, '{}');
  v_new.expect := nullif(create_schedule.expect, '{}');
  perform _qwf.raise_problems('QW005', 'invalid schedule',
    array(select p from _qwf.schedule_problems(v_new) p));
  v_new.next_at := case
    when v_new.enabled and v_old.enabled
      and row(v_old.cron, v_old.minute, v_old.hours, v_old.every, v_old.anchor, v_old.timezone)
        is not distinct from
        row(v_new.cron, v_new.minute, v_new.hours, v_new.every, v_new.anchor, v_new.timezone)
      then v_old.next_at
    when v_new.enabled then _qwf.next_fire(v_new, v_now) end;
  v_new.on_since := case when v_new.next_at = v_old.next_at then v_old.on_since else v_now end;
  if v_new is distinct from v_old then
    perform _qwf.store_schedule(v_new, v_now);
  end if;
  return v_new.next_at;
end $$;
comment on function qwf.create_schedule is
  'Enqueues a task or workflow repeatedly: by cron, by minute and hours, or at a fixed interval; '
  'returns when it is next due. {"$from": "due.date"} in args or options is the day for which it '
  'fires. expect says when it is late: {"takes": "30 min"} without success after its time, '
  '{"every": "26 h"} without any. QW005 lists all problems. A second call with the same name '
  'replaces the schedule; enabled null keeps the old value, and a new schedule is on.';
call _qwf.allow('qwf.create_schedule', 'qwf_admin');

-- Returns what is wrong with a schedule. Reports all problems at once. A schedule without
-- problems could fire now.
-- Raises: QW001 for an unknown version, QW003 for a workflow that does not fit its pipelines.
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

-- Returns what is wrong with the args and options of a schedule. References are tried with a
-- time of the schedule. Without one (its timing is wrong) only what needs none is looked at.
-- Raises: QW001 for an unknown version, QW003 for a workflow that does not fit its pipelines.
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

-- Returns what is wrong with the options of a schedule: those that its job or run does not take,
-- and values that it refuses. Tries them with the values of a time of the schedule.
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

-- Writes the definition of a schedule. Keeps what the schedule has recorded so far.
-- Locks: the schedule.
create function _qwf.store_schedule(p_schedule qwf.schedules, p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into qwf.schedules (
    name, task, workflow, cron, minute, hours, every, anchor, timezone, args, queue, priority,
    project, options, catch_up, overlap, enabled, next_at, backfill_of, ends_at, at_once, again,
    planned, expect, on_since, created_at)
  values (
    p_schedule.name, p_schedule.task, p_schedule.workflow, p_schedule.cron, p_schedule.minute,
    p_schedule.hours, p_schedule.every, p_schedule.anchor, p_schedule.timezone, p_schedule.args,
    p_schedule.queue, p_schedule.priority, p_schedule.project, p_schedule.options,
    p_schedule.catch_up, p_schedule.overlap, p_schedule.enabled, p_schedule.next_at,
    p_schedule.backfill_of, p_schedule.ends_at, p_schedule.at_once, p_schedule.again,
    p_schedule.planned, p_schedule.expect, p_schedule.on_since, p_now)
  on conflict (name) do update set
    task = excluded.task, workflow = excluded.workflow, cron = excluded.cron,
    minute = excluded.minute, hours = excluded.hours, every = excluded.every,
    anchor = excluded.anchor, timezone = excluded.timezone, args = excluded.args,
    queue = excluded.queue, priority = excluded.priority, project = excluded.project,
    options = excluded.options, catch_up = excluded.catch_up, overlap = excluded.overlap,
    enabled = excluded.enabled, next_at = excluded.next_at,
    expect = excluded.expect, on_since = excluded.on_since;
end $$;

-- Switches a schedule on or off. Times that pass while it is off are not made up for: switched
-- on, it waits for the next one. A backfill goes on where it was. Switching on a schedule that
-- is on changes nothing.
-- Locks: the schedule.
-- Raises: QW001 for an unknown schedule, QW002 for a backfill that has ended, QW005 for a null.
create function qwf.enable_schedule(name text, enabled boolean default true) returns timestamptz
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_schedule qwf.schedules;
begin
  if enable_schedule.enabled is null then
    raise exception using errcode = 'QW005', message = 'enabled must be true or false',
      detail = 'enabled is null',
      hint = 'pass true to switch the schedule on, false to switch it off';
  end if;
  select s.* into v_schedule
  from qwf.schedules s where s.name = enable_schedule.name for no key update;
  if not found then
    perform _qwf.raise_unknown_schedule(enable_schedule.name);
  end if;
  if v_schedule.enabled <> enable_schedule.enabled then
    if v_schedule.backfill_of is not null and num_nonnulls(
        v_schedule.next_at, v_schedule.resume_at) = 0 then
      raise exception using errcode = 'QW002', message = 'the backfill has ended',
        detail = format('schedule %s', v_schedule.name),
        hint = 'begin another: select qwf.backfill(...)';
    end if;
    update qwf.schedules s set
      enabled = enable_schedule.enabled,
      on_since = qwf.now(),
      next_at = case when enable_schedule.enabled
        then coalesce(s.resume_at, _qwf.next_fire(v_schedule, qwf.now())) end,
      resume_at = case when s.backfill_of is not null then s.next_at end
    where s.name = v_schedule.name
    returning s.next_at into v_schedule.next_at;
  end if;
  return v_schedule.next_at;
end $$;
comment on function qwf.enable_schedule is
  'Switches a schedule on, or off with false, and returns when it is next due. A backfill goes on '
  'where it was. QW001 no such schedule, QW002 the backfill has ended.';
call _qwf.allow('qwf.enable_schedule', 'qwf_admin');

-- Raises QW001 and suggests the name that was probably meant.
-- Raises: QW001, always.
create function _qwf.raise_unknown_schedule(p_name text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = 'QW001',
    message = 'unknown schedule',
    detail = format('there is no schedule %L', left(p_name, 200)),
    hint = coalesce(
      _qwf.did_you_mean(p_name, array(select s.name from qwf.schedules s)),
      'list them: select * from qwf.schedule_overview');
end $$;

-- Deletes a schedule. Its jobs, runs and firings stay; ticks go on to record how the work ends.
-- Its backfills go on.
-- Locks: the schedule. A tick that fires it comes first, or does not fire.
create function qwf.drop_schedule(name text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  delete from qwf.schedules s where s.name = drop_schedule.name;
  if not found then
    perform _qwf.raise_unknown_schedule(drop_schedule.name);
  end if;
end $$;
comment on function qwf.drop_schedule is
  'Deletes a schedule; the jobs and runs it has enqueued stay, so do its firings and backfills. '
  'QW001 no such schedule.';
call _qwf.allow('qwf.drop_schedule', 'qwf_admin');
