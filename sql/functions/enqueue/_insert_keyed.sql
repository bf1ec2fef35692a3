-- Deploy qwf:functions/enqueue/_insert_keyed
-- Purpose: Inserts one standalone job that has a key, or finds the job that holds the key.
-- Guarantees: If that job ends meanwhile, the key is free and the job is inserted after all.
-- Locks: the key: two transactions that enqueue the same key wait for each other.
-- Notifies: one sleeper of the queue, also one that fell asleep while this waited for the key.
-- Called by: enqueue.

begin;

create function _qwf.insert_keyed(p_job _qwf.new_job, p_now timestamptz) returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_later boolean := coalesce(p_job.run_at > p_now, false);
  v_id bigint;
begin
  loop
    insert into qwf.jobs as j (
      task, inputs, queue, priority, status, run_at, position, queued_at, key, once, max_attempts,
      max_losses, backoff, timeout, required_model, light, vram_mb, requires, limit_by,
      on_failure, expires_at, project, labels, created_at)
    values (
      p_job.task, p_job.args, p_job.queue, p_job.priority,
      case when v_later then 'scheduled' else 'queued' end::qwf.job_status, p_job.run_at,
      case when not v_later then _qwf.next_position() end, case when not v_later then p_now end,
      p_job.key, p_job.once, p_job.max_attempts, p_job.max_losses, p_job.backoff, p_job.timeout,
      p_job.model, p_job.light, p_job.vram_mb, p_job.requires, p_job.limit_by, p_job.on_failure,
      greatest(p_job.run_at, p_now) + p_job.expires, p_job.project, p_job.labels, p_now)
    on conflict (project, task, key)
      where key is not null
        and (once or status in ('scheduled', 'queued', 'running', 'awaiting_input'))
      do nothing
    returning j.id into v_id;
    if found and not v_later then
      perform _qwf.wake(p_job.queue, 1);
    end if;
    exit when v_id is not null;
    select j.id into v_id  -- from the index jobs_key
    from qwf.jobs j
    where j.project = p_job.project and j.task = p_job.task and j.key = p_job.key
      and j.key is not null
      and (j.once or j.status in ('scheduled', 'queued', 'running', 'awaiting_input'));
    exit when found;  -- else that job ended between the two statements: its key is free
  end loop;
  return v_id;
end $$;

commit;
