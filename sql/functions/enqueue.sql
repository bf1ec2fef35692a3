-- Deploy qwf:functions/enqueue
-- requires: schema/jobs
-- requires: schema/workers
-- requires: functions/_check_job
-- requires: functions/_next_position
-- requires: functions/_job_with_key
-- requires: functions/_notice_unserved
-- requires: functions/_check_key
-- requires: functions/now
-- Purpose: Enqueues one standalone job in the caller's transaction.
-- Guarantees: The job exists exactly when that transaction commits. With a key that is taken,
--   returns the job that has it.
-- Locks: none but the key's; two transactions that enqueue the same key wait for each other.
-- Notifies: one sleeper of the queue, through tg_jobs__insert.
-- Raises: QW001 unknown limit, QW005 invalid value, QW006 unknown queue.
-- Called by: producers.

begin;

create function qwf.enqueue(
  task text, args jsonb default '{}', queue text default 'default', priority int default 100,
  run_at timestamptz default null, key text default null, max_attempts int default null,
  backoff jsonb default null, timeout interval default null, model text default null,
  vram_mb int default null, requires jsonb default '{}', limit_by text default null,
  on_failure text default 'fail', expires interval default null, project text default '',
  labels jsonb default '{}', once boolean default false)
returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_id bigint;
  v_now timestamptz := qwf.now();
  v_later boolean := coalesce(enqueue.run_at > v_now, false);
begin
  perform qwf._check_key('', 'key', enqueue.key), qwf._check_key('', 'project', enqueue.project);
  perform qwf._check_job(
    '', enqueue.task, enqueue.args, enqueue.queue, enqueue.backoff, enqueue.requires,
    enqueue.labels, enqueue.max_attempts, enqueue.timeout, enqueue.vram_mb, enqueue.limit_by,
    enqueue.on_failure, enqueue.expires);
  loop
    insert into qwf.jobs as j (
      task, inputs, queue, priority, status, run_at, position, queued_at, key, once,
      max_attempts, backoff, timeout, required_model, vram_mb, requires, limit_by, on_failure,
      expires_at, project, labels, created_at)
    values (
      enqueue.task, enqueue.args, enqueue.queue, coalesce(enqueue.priority, 100),
      case when v_later then 'scheduled' else 'queued' end::qwf.job_status,
      enqueue.run_at,
      case when not v_later then qwf._next_position() end,
      case when not v_later then v_now end,
      enqueue.key, coalesce(enqueue.once, false), enqueue.max_attempts, enqueue.backoff,
      enqueue.timeout, enqueue.model, enqueue.vram_mb, coalesce(enqueue.requires, '{}'),
      enqueue.limit_by, coalesce(enqueue.on_failure, 'fail'),
      greatest(enqueue.run_at, v_now) + enqueue.expires,
      coalesce(enqueue.project, ''), coalesce(enqueue.labels, '{}'), v_now)
    on conflict (project, task, key)
      where key is not null
        and (once or status in ('scheduled', 'queued', 'running', 'awaiting_input'))
      do nothing
    returning j.id into v_id;
    exit when v_id is not null;
    v_id := qwf._job_with_key(coalesce(enqueue.project, ''), enqueue.task, enqueue.key);
    exit when v_id is not null;
    -- it ended between the two statements: the key is free, insert again
  end loop;
  perform qwf._notice_unserved(enqueue.queue);
  return v_id;
end $$;
comment on function qwf.enqueue(
  text, jsonb, text, int, timestamptz, text, int, jsonb, interval, text, int, jsonb, text, text,
  interval, text, jsonb, boolean) is
  'Enqueues a standalone job and returns its id, or the id of the job that holds the key; QW005 '
  'for a bad value, QW006 for an unknown queue, QW001 for an unknown limit. A '
  'notice says when no live worker serves the queue.';
revoke all on function qwf.enqueue(
  text, jsonb, text, int, timestamptz, text, int, jsonb, interval, text, int, jsonb, text, text,
  interval, text, jsonb, boolean) from public;
call qwf._allow(
  'qwf.enqueue(text, jsonb, text, int, timestamptz, text, int, jsonb, interval, text, int, jsonb, '
  'text, text, interval, text, jsonb, boolean)', 'qwf_producer');

commit;
