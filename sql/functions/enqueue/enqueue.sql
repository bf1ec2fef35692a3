-- One job enqueued. Locks: a limit that it names, against being dropped; with a key, the key and
-- the job that waits under it.

-- Enqueues one standalone job in the caller's transaction. The job exists exactly when that
-- transaction commits. If a job of its key waits, merges into it and returns its id; that job
-- starts after the commit. A job of its key that has started stays as it is: the new one waits
-- until it has ended.
-- Locks: a limit that it names, against being dropped; with a key as _insert_job.
-- Notifies: one sleeper of the queue.
create function qwf.enqueue(
  task text, args jsonb default '{}', queue text default 'default', priority int default 100,
  run_at timestamptz default null, key text default null, max_attempts int default null,
  backoff jsonb default null, timeout interval default null, model text default null,
  vram_mb int default null, requires jsonb default '{}', limit_by text default null,
  on_failure text default null, expires interval default null, project text default '',
  labels jsonb default '{}', once boolean default false, light boolean default false,
  max_losses int default null, key_mode text default null, debounce interval default null,
  debounce_max interval default null, notify text default null,
  at_most_once boolean default false)
returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_now timestamptz := qwf.now();
  v_max_bytes int; v_served boolean; v_asleep boolean;
  v_job _qwf.new_job;
  v_put qwf.enqueued;
  v_status text;
begin
  select l.max_value_bytes, l.served, l.asleep into v_max_bytes, v_served, v_asleep
  from _qwf.look_up_queue(enqueue.queue, enqueue.task, coalesce(enqueue.project, ''), v_now) l;
  perform _qwf.raise_unknown_queue(enqueue.queue) where not found;
  if enqueue.notify is not null then
    enqueue.labels := _qwf.with_notify(enqueue.labels, enqueue.notify);
  end if;
  v_job := (null, enqueue.task, enqueue.args, enqueue.queue,
    coalesce(enqueue.priority, 100), enqueue.run_at, enqueue.key, enqueue.max_attempts,
    enqueue.backoff, enqueue.timeout, enqueue.model, enqueue.vram_mb,
    coalesce(enqueue.requires, '{}'), enqueue.limit_by, enqueue.on_failure, enqueue.expires,
    coalesce(enqueue.project, ''), coalesce(enqueue.labels, '{}'), coalesce(enqueue.once, false),
    coalesce(enqueue.light, false), enqueue.max_losses, enqueue.key_mode, enqueue.debounce,
    enqueue.debounce_max, null, enqueue.at_most_once)::_qwf.new_job;
  -- Most jobs are like this one; the full check would take longer than the insert. Each argument
  -- that _job_problem judges stands here.
  if (num_nonnulls(enqueue.run_at, enqueue.key, enqueue.max_attempts, enqueue.backoff,
      enqueue.timeout, enqueue.model, enqueue.vram_mb, enqueue.limit_by,
      enqueue.on_failure, enqueue.expires, enqueue.max_losses, enqueue.notify,
      nullif(enqueue.once, false), enqueue.key_mode, enqueue.debounce, enqueue.debounce_max) = 0
    and enqueue.requires = '{}' and enqueue.project = ''
    and _qwf.is_plain(enqueue.task, enqueue.args, enqueue.labels, v_max_bytes)
  ) is not true then
    perform from qwf.limits l where enqueue.limit_by is not null  -- as _lock_limits does
      and l.name in (enqueue.limit_by, split_part(enqueue.limit_by, ':', 1)) for key share;
    perform _qwf.check_job(v_job, '', v_max_bytes);
  end if;
  v_put := _qwf.insert_job(v_job, _qwf.next_position(), v_now);
  -- with a key it may have waited, and a worker may sleep since
  if (v_asleep or enqueue.key is not null) and not v_put.merged and v_put.run_at is null then
    perform _qwf.wake(enqueue.queue, 1);
  end if;
  select j.status into v_status from qwf.jobs j
  where v_put.kept = 'old args' and j.id = v_put.job_id and j.inputs <> enqueue.args;
  if found then
    raise notice using
      message = format('merged into job %s (%s), your arguments were not used',
        v_put.job_id, v_status),
      hint = case when v_job.once
        then 'the key is taken once: use another key for other work'
        else 'key_mode => ''replace'' gives the job that waits the new arguments' end;
  end if;
  perform _qwf.notice_unserved(enqueue.queue, array[enqueue.task], v_job.project)
  where not v_served;
  return v_put.job_id;
end $$;
comment on function qwf.enqueue is
  'Enqueues a standalone job and returns its id. With a key it merges into the job of that key '
  'that waits, and returns its id: key_mode keep (the default) leaves that job as it is, replace '
  'gives it the new arguments, refuse raises QW008. A job of the key that runs is left alone: the '
  'new one starts when it has ended. debounce: it starts so long after the last call, and at '
  'most debounce_max (by default ten times as long) after the first. once: the key is taken for as '
  'long as the row is kept. notify: the receiver of that name is told when it fails for good or '
  'asks a person. at_most_once: nothing tries it again by itself once its body may have begun. '
  'A notice says when arguments were not used, and when no live worker '
  'serves the queue or has the task. QW005 for a bad value, QW006 for an unknown queue, QW001 for '
  'an unknown limit.';
call _qwf.allow('qwf.enqueue', 'qwf_producer');

-- Returns what enqueue needs to know about a queue: the size limit of values, whether a live
-- worker serves it, knows the task and works for the project, and whether a worker sleeps on it.
-- No row for an unknown queue. PostgreSQL inlines it. Ends at the first worker that knows the
-- task or takes any, which as a rule is the first one; else reads the live ones.
create function _qwf.look_up_queue(p_queue text, p_task text, p_project text, p_now timestamptz)
returns table (max_value_bytes int, served boolean, asleep boolean)
language sql stable
as $$
  select s.max_value_bytes, exists (
    select from qwf.workers w
    where w.queue = p_queue and w.stopped_at is null and w.last_seen > p_now - s.worker_stale
      and (w.tasks is null or p_task = any (w.tasks))
      and (w.project is null or w.project = p_project)
      and (w.held_tasks is null or p_task <> all (w.held_tasks))),
    exists (select from qwf.sleepers l where l.queue = p_queue)
  from qwf.queues q cross join qwf.settings s
  where q.name = p_queue and not starts_with(p_queue, 'qwf.')
$$;

-- True when the task, the arguments and the labels of a standalone job need no further check.
-- Labels that carry a trace need none. Builds no text of arguments over 10,000 bytes, not even
-- if a table holds them compressed (#> decompresses): see _is_small_job. PostgreSQL inlines it.
create function _qwf.is_plain(p_task text, p_args jsonb, p_labels jsonb, p_max_bytes int)
returns boolean
language sql stable
return length(p_task) between 1 and 200 and p_task !~ '[[:space:]]'
  and not starts_with(p_task, 'qwf.')
  and jsonb_typeof(p_args) = 'object'
  and case when pg_column_size(p_args #> '{}') <= 10000
    then octet_length(p_args::text) <= least(1000, p_max_bytes) end
  and case
    when p_labels in ('{}', '{"qwf.checked": true}') then true
    when jsonb_typeof(p_labels) = 'object' and pg_column_size(p_labels #> '{}') <= 1000
      and jsonb_typeof(p_labels -> 'traceparent') = 'string'
      and coalesce(jsonb_typeof(p_labels -> 'tracestate') = 'string', true)
    then p_labels - '{traceparent,tracestate}'::text[] in ('{}', '{"qwf.checked": true}') end;

-- Tells a producer that no live worker serves the queue, that none of them works for the
-- project, that none has a task, or that a task is held back. Only a notice: the job waits until
-- a worker comes. Names ten tasks at most.
create function _qwf.notice_unserved(p_queue text, p_tasks text[], p_project text)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_live qwf.workers[] := array(
    select w from qwf.workers w cross join qwf.settings s
    where w.queue = p_queue and w.stopped_at is null and w.last_seen > qwf.now() - s.worker_stale
    limit 100);
  v_task text;
  v_hold text;
begin
  if v_live = '{}' then
    raise notice using message = format('no live worker serves queue %s', p_queue),
      hint = format('the job waits until one does: qwf agent --queue %s', p_queue);
    return;
  end if;
  v_live := array(select w from unnest(v_live) w where w.project is null or w.project = p_project);
  if v_live = '{}' then
    raise notice using
      message = format('no live worker of queue %s works for %s', p_queue,
        coalesce('project ' || nullif(p_project, ''), 'jobs without a project')),
      hint = format('the job waits until one does: qwf agent --queue %s%s', p_queue,
        coalesce(' --project ' || nullif(p_project, '')));
    return;
  end if;
  foreach v_task in array p_tasks[:10] loop
    select _qwf.spell_hold(h, h.until::text) into v_hold
    from qwf.held_tasks h where h.queue = p_queue and h.task = v_task and h.until is not null;
    if found then
      raise notice using message = v_hold, hint = format(
        'the job waits until then; mend the task, then: qwf queue resume %s --task %s', p_queue,
        v_task);
      continue;
    end if;
    raise notice using
      message = format('no live worker of queue %s has task %L', p_queue, left(v_task, 100)),
      hint = coalesce(_qwf.did_you_mean(v_task,
          array(select distinct t from unnest(v_live) w, unnest(w.tasks) t limit 1000)),
        'the job waits until one does: start an agent that has it, or cancel the job');
  end loop;
end $$;
