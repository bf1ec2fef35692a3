-- Deploy qwf:functions/enqueue/enqueue
-- Purpose: Enqueues one standalone job in the caller's transaction.
-- Guarantees: The job exists exactly when that transaction commits. If a job of its key waits,
--   merges into it and returns its id; that job starts after the commit. A job of its key that has
--   started stays as it is: the new one waits until it has ended.
-- Locks: a limit that it names, against being dropped; with a key as _insert_job.
-- Notifies: one sleeper of the queue.

begin;

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
  -- most jobs are like this one; the full check would take longer than the insert
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

commit;
