-- Deploy qwf:functions/enqueue/_merge_waiting
-- Purpose: Merges a job into the one of its key that waits; returns null if none waits any more.
-- Guarantees: The job starts after the caller's transaction has ended: claim skips a locked row. It
--   starts no later than any of those who merged allow, and expires no earlier. With key_mode
--   replace it gets everything but id and place from the new one; else it keeps what it has. A job
--   that was enqueued once holds its key, ended or not, and is never changed. One that somebody has
--   asked to cancel is cancelled now, and not merged into: the new edit would go with it.
-- Locks: the job, unless it was enqueued once and does not wait any more. One that was enqueued
--   once and a queued one that is kept, does not expire and was never debounced are locked for
--   share, so that producers do not wait for each other.
-- Notifies: a sleeper of the queue of a queued job that is kept or replaced, because a claim may
--   have skipped it meanwhile. One that was enqueued once is found by polls.
-- Raises: QW008 with key_mode refuse, or for replacing a job that was enqueued once.
-- Called by: _insert_job.

begin;

create function _qwf.merge_waiting(p_job _qwf.new_job) returns qwf.enqueued
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_replace boolean := coalesce(p_job.key_mode = 'replace', false);
  v_id bigint;
  v_there qwf.jobs;
  v_run_at timestamptz;
begin
  if exists (select from qwf.cancel_requests) then
    perform _qwf.cancel_waiting(asked.id, asked.reason)
    from (
      select j.id, c.reason from qwf.jobs j join qwf.cancel_requests c on c.job_id = j.id
      where j.project = p_job.project and j.task = p_job.task and j.key = p_job.key
        and j.key is not null and (j.key_state = 's') = false and not j.once
        and j.status in ('scheduled', 'queued')
      for no key update of j) asked;
  end if;
  select j.id, case j.status when 'scheduled' then j.run_at end into v_id, v_run_at
  from qwf.jobs j  -- from the index jobs_key, and so below
  where j.project = p_job.project and j.task = p_job.task and j.key = p_job.key
    and j.key is not null and (j.key_state = 's') = false and j.once
    and j.status in ('scheduled', 'queued')
  for share;
  if not found then  -- one that runs is not locked: its finish would wait
    select j.id into v_id from qwf.jobs j
    where j.project = p_job.project and j.task = p_job.task and j.key = p_job.key
      and j.key is not null and (j.key_state = 's') = false and j.once;
  end if;
  if not found and not v_replace then
    select j.* into v_there from qwf.jobs j
    where j.project = p_job.project and j.task = p_job.task and j.key = p_job.key
      and j.key is not null and (j.key_state = 's') = false
      and j.status = 'queued' and j.expires_at is null and (j.options).start_by is null
    for share;
  end if;
  if v_id is null and v_there.id is null then
    select j.* into v_there from qwf.jobs j
    where j.project = p_job.project and j.task = p_job.task and j.key = p_job.key
      and j.key is not null and (j.key_state = 's') = false
      and j.status in ('scheduled', 'queued')
    for no key update;
  end if;
  v_id := coalesce(v_id, v_there.id);
  if v_id is not null and (p_job.key_mode = 'refuse' or v_replace and v_there.id is null) then
    perform _qwf.raise_key_taken(v_id);
  elsif v_there.id is not null then
    v_run_at := _qwf.change_merged(v_there, p_job);
    if v_run_at is null then
      perform _qwf.wake(case when v_replace then p_job.queue else v_there.queue end, 1);
    end if;
  end if;
  return (v_id, true, case when v_replace then 'new args' else 'old args' end, v_run_at
    )::qwf.enqueued;
end $$;

commit;
