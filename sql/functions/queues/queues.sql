-- Queues created, paused and resumed. Locks: the row of the queue, then its limit, then running
-- jobs of a queue that had no limit.

-- Creates a queue, or changes its settings. Called again, changes only what is given; unset
-- names what gets its default again. Keeps max_running as the limit queue:NAME: running jobs
-- count, none is stopped, and unset or drop_limit removes it.
-- Locks: the row of the queue, then as create_limit; running jobs of a queue that had no limit.
-- Notifies: sleepers of the queue, if more jobs may run now.
create function qwf.create_queue(
  name text, lease interval default null, timeout interval default null,
  retention interval default null, max_running int default null, placement text default null,
  keep_completed boolean default null, on_failure text default null,
  unset text[] default null, expect jsonb default null)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_given constant jsonb := jsonb_build_object(
    'lease', create_queue.lease, 'timeout', create_queue.timeout,
    'retention', create_queue.retention, 'max_running', create_queue.max_running,
    'placement', create_queue.placement, 'keep_completed', create_queue.keep_completed,
    'on_failure', create_queue.on_failure, 'expect', create_queue.expect);
  v_new text[] := _qwf.new_settings(v_given, create_queue.unset);
  v_limit constant text := 'queue:' || create_queue.name;
  v_limited boolean;
begin
  if coalesce(create_queue.name !~ '^[a-z][a-z0-9_.-]{0,62}$', true) then
    raise exception using errcode = 'QW005', message = 'invalid queue name',
      detail = format('name: %L', left(create_queue.name, 200)),
      hint = 'use 1 to 63 lower-case letters, digits, dots, dashes or underscores, a letter first';
  end if;
  perform _qwf.refuse_engine_name('queue', create_queue.name)
  where starts_with(create_queue.name, 'qwf.')
    and not exists (select from qwf.queues q where q.name = create_queue.name);
  if not _qwf.is_duration(create_queue.lease, '1 day', p_least => '1 s')
    or not _qwf.is_duration(create_queue.timeout, '366 days')
    or not _qwf.is_duration(create_queue.retention, '1000 years')
    or create_queue.max_running not between 1 and 10000
    or create_queue.placement not in ('spread', 'pack')
    or create_queue.on_failure not in ('fail', 'ask') then
    raise exception using errcode = 'QW005', message = 'value out of range',
      detail = format('given: %s', left(jsonb_strip_nulls(v_given)::text, 1000)),
      hint = 'lease is 1 second to 1 day, timeout is positive and at most 366 days, '
        'retention is positive and at most 1000 years, max_running is 1 to 10000, '
        'placement is spread or pack, on_failure is fail or ask';
  end if;
  perform _qwf.raise_problems('QW005', 'invalid queue',
    array(select p from _qwf.expect_problems(create_queue.expect, '{starts_within}') p));
  insert into qwf.queues as q (
    name, lease, timeout, retention, max_running, placement, keep_completed, on_failure, expect)
  values (create_queue.name, create_queue.lease, create_queue.timeout, create_queue.retention,
    create_queue.max_running, coalesce(create_queue.placement, 'spread'),
    coalesce(create_queue.keep_completed, true), coalesce(create_queue.on_failure, 'fail'),
    nullif(create_queue.expect, '{}'))
  on conflict (name) do update set
    lease = case when 'lease' = any (v_new) then excluded.lease else q.lease end,
    timeout = case when 'timeout' = any (v_new) then excluded.timeout else q.timeout end,
    retention = case when 'retention' = any (v_new) then excluded.retention else q.retention end,
    max_running = coalesce(excluded.max_running, q.max_running),
    placement = case when 'placement' = any (v_new) then excluded.placement else q.placement end,
    keep_completed = case when 'keep_completed' = any (v_new) then excluded.keep_completed
      else q.keep_completed end,
    on_failure = case when 'on_failure' = any (v_new) then excluded.on_failure
      else q.on_failure end,
    expect = case when 'expect' = any (v_new) then excluded.expect else q.expect end;
  v_limited := exists (select from qwf.limits l where l.name = v_limit);  -- the queue is locked
  if create_queue.max_running is not null then
    insert into qwf.limits as l (name, max_running) values (v_limit, create_queue.max_running)
    on conflict (name) do update set max_running = excluded.max_running;
    perform _qwf.store_slots(v_limit, create_queue.max_running),
      _qwf.wake_for_limit(v_limit, create_queue.max_running);
    if not v_limited then
      perform _qwf.give_slots_to_running(create_queue.name);
    end if;
  elsif v_limited and 'max_running' = any (v_new) then
    perform qwf.drop_limit(v_limit);
  end if;
end $$;
comment on function qwf.create_queue is
  'Creates a queue, or changes the given settings of an existing one: lease, timeout and '
  'retention of its jobs, how many may run at once, who takes a new job: spread (the first to '
  'ask) or pack (the best worker that has room), whether completed jobs are kept '
  '(keep_completed), and whether a person is asked about a standalone job that fails for good and '
  'does not say it itself (on_failure: fail or ask), and how long the first job may wait until '
  'qwf tells that the queue waits (expect: {"starts_within": "5 min"}). unset lists settings '
  'that get their default again: {lease,retention}. QW005 for an invalid name or value.';
call _qwf.allow('qwf.create_queue', 'qwf_admin');

-- Lists the settings of a queue that a call changes: those with a value, and those that get
-- their default again.
-- Raises: QW005 for an unknown setting in p_unset, and for one that is also given a value.
create function _qwf.new_settings(p_given jsonb, p_unset text[]) returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_known constant text[] := array(select k from jsonb_object_keys(p_given) k order by k);
  v_set constant text[] := array(select k from jsonb_object_keys(jsonb_strip_nulls(p_given)) k);
  v_bad text := (
    select u from unnest(p_unset) u
    where (u = any (v_known)) is not true or u = any (v_set) limit 1);
begin
  if v_bad is not null or array_position(p_unset, null) > 0 then
    raise exception using errcode = 'QW005', message = 'setting cannot be unset',
      detail = format('unset: %L', left(v_bad, 200)),
      hint = case when v_bad = any (v_set) then 'give it a value or unset it, not both'
        else coalesce(_qwf.did_you_mean(v_bad, v_known) || ' ', '')
          || 'a queue has ' || array_to_string(v_known, ', ') end;
  end if;
  return v_set || p_unset;
end $$;

-- Returns what is wrong with what a schedule or queue expects. Null is right: it expects
-- nothing.
create function _qwf.expect_problems(p_expect jsonb, p_keys text[]) returns setof _qwf.problem
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select 'expect', 'must be an object', 'its keys are ' || array_to_string(p_keys, ', ')
  where jsonb_typeof(p_expect) <> 'object'
  union all
  select 'expect.' || left(e.key, 100),
    case when e.key = any (p_keys) then 'must be a duration of at most a year'
      else 'unknown key' end,
    case when e.key = any (p_keys) then 'write it like "10 min", or as a number of seconds'
      else coalesce(_qwf.did_you_mean(e.key, p_keys),
        'its keys are ' || array_to_string(p_keys, ', ')) end
  from jsonb_each(case jsonb_typeof(p_expect) when 'object' then p_expect end) e
  where e.key <> all (p_keys) or _qwf.as_interval(e.value) is null
  limit 100  -- more than anybody reads
$$;

-- Stops handing out jobs of a queue. Running jobs continue, and work may be enqueued.
-- Locks: the row of the queue.
create function qwf.pause_queue(name text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  update qwf.queues q set paused = true, paused_at = coalesce(q.paused_at, qwf.now())
  where q.name = pause_queue.name;
  if not found then
    perform _qwf.raise_unknown_queue(pause_queue.name);
  end if;
end $$;
comment on function qwf.pause_queue is
  'Stops handing out jobs of the queue until resume_queue(); running jobs continue. QW006 for an '
  'unknown queue.';
call _qwf.allow('qwf.pause_queue', 'qwf_admin');

-- Hands out jobs of a paused queue again, or of a task of it that is held back. With a task the
-- queue stays as it is. The next tick lets one job of the task run alone; unless it crashes, the
-- others follow.
-- Locks: the row of the queue, or of held_tasks.
-- Notifies: sleepers of the queue.
create function qwf.resume_queue(name text, task text default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  if resume_queue.task is not null then
    if _qwf.free_tasks(resume_queue.name, array[resume_queue.task]) = 0 then
      raise exception using errcode = 'QW001', message = 'no such held task',
        detail = format('task %L of queue %L', left(resume_queue.task, 200),
          left(resume_queue.name, 200)),
        hint = 'qwf doctor names the tasks that are held back';
    end if;
    return;
  end if;
  update qwf.queues q set paused = false, paused_at = null where q.name = resume_queue.name;
  if not found then
    perform _qwf.raise_unknown_queue(resume_queue.name);
  end if;
  perform _qwf.wake(resume_queue.name, 16);
end $$;
comment on function qwf.resume_queue is
  'Hands out jobs of the queue again, and wakes workers that sleep on it. With a task: jobs of '
  'this task, which is held back because it crashed; the first one runs alone. QW001 for a task '
  'that is not held back, QW006 for an unknown queue.';
call _qwf.allow('qwf.resume_queue', 'qwf_admin');
