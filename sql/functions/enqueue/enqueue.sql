-- Deploy qwf:functions/enqueue/enqueue
-- Purpose: Enqueues one standalone job in the caller's transaction.
-- Guarantees: The job exists exactly when that transaction commits. If the key is taken, returns
--   the job that holds it.
-- Locks: only the key: two transactions that enqueue the same key wait for each other.
-- Notifies: one sleeper of the queue.
-- Raises: QW001 unknown limit, QW005 invalid value, QW006 unknown queue.
-- Called by: producers.

begin;

create function qwf.enqueue(
  task text, args jsonb default '{}', queue text default 'default', priority int default 100,
  run_at timestamptz default null, key text default null, max_attempts int default null,
  backoff jsonb default null, timeout interval default null, model text default null,
  vram_mb int default null, requires jsonb default '{}', limit_by text default null,
  on_failure text default 'fail', expires interval default null, project text default '',
  labels jsonb default '{}', once boolean default false, light boolean default false)
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
  v_later boolean := coalesce(enqueue.run_at > v_now, false);
  v_queue record := _qwf.look_up_queue(enqueue.queue, '');
  v_job _qwf.new_job := (
    null, enqueue.task, enqueue.args, enqueue.queue, coalesce(enqueue.priority, 100),
    enqueue.run_at, enqueue.key, enqueue.max_attempts, enqueue.backoff, enqueue.timeout,
    enqueue.model, enqueue.vram_mb, coalesce(enqueue.requires, '{}'), enqueue.limit_by,
    coalesce(enqueue.on_failure, 'fail'), enqueue.expires, coalesce(enqueue.project, ''),
    coalesce(enqueue.labels, '{}'), coalesce(enqueue.once, false),
    coalesce(enqueue.light, false))::_qwf.new_job;
  v_id bigint;
begin
  perform _qwf.check_job(v_job, '', v_queue.max_value_bytes);
  if v_job.key is not null then
    v_id := (_qwf.insert_jobs(array[v_job]))[1];
  else  -- without a key, one insert is enough
    insert into qwf.jobs as j (
      task, inputs, queue, priority, status, run_at, position, queued_at, once, max_attempts,
      backoff, timeout, required_model, light, vram_mb, requires, limit_by, on_failure,
      expires_at, project, labels, created_at)
    values (
      v_job.task, v_job.args, v_job.queue, v_job.priority,
      case when v_later then 'scheduled' else 'queued' end::qwf.job_status,
      v_job.run_at,
      case when not v_later then _qwf.next_position() end,
      case when not v_later then v_now end,
      v_job.once, v_job.max_attempts, v_job.backoff, v_job.timeout, v_job.model, v_job.light,
      v_job.vram_mb, v_job.requires, v_job.limit_by, v_job.on_failure,
      greatest(v_job.run_at, v_now) + v_job.expires, v_job.project, v_job.labels, v_now)
    returning j.id into v_id;
    if v_queue.asleep and not v_later then
      perform _qwf.wake(v_job.queue, 1);
    end if;
  end if;
  if not v_queue.served then
    perform _qwf.notice_unserved(v_job.queue);
  end if;
  return v_id;
end $$;
comment on function qwf.enqueue is
  'Enqueues a standalone job and returns its id, or the id of the job that holds the key; QW005 '
  'for a bad value, QW006 for an unknown queue, QW001 for an unknown limit. A '
  'notice says when no live worker serves the queue.';
call _qwf.allow('qwf.enqueue', 'qwf_producer');

commit;
