-- Deploy qwf:functions/enqueue/_change_merged
-- Purpose: Writes what a job that waits gets from one that is merged into it.
-- Guarantees: Writes nothing if nothing changes.
-- Locks: the caller has locked the job; one that may change here not only shared.
-- Called by: _merge_waiting.

begin;

create function _qwf.change_merged(p_there qwf.jobs, p_job _qwf.new_job, p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_expires_at timestamptz := greatest(p_job.run_at, p_now) + p_job.expires;
  v_sooner boolean := p_there.status = 'scheduled'
    and coalesce(p_job.run_at, p_now) < p_there.run_at;
  v_now boolean := v_sooner and coalesce(p_job.run_at, p_now) <= p_now;
begin
  if p_job.key_mode = 'replace' then
    update qwf.jobs j set
      inputs = p_job.args, labels = p_job.labels, queue = p_job.queue,
      priority = p_job.priority, limit_by = p_job.limit_by,
      limit_place = case when p_job.limit_by is not null then _qwf.limit_place(p_job.limit_by) end,
      expires_at = v_expires_at,
      max_attempts = p_job.max_attempts, max_losses = p_job.max_losses, backoff = p_job.backoff,
      timeout = p_job.timeout, required_model = p_job.model, light = p_job.light,
      vram_mb = p_job.vram_mb, requires = p_job.requires, on_failure = p_job.on_failure
    where j.id = p_there.id;
  elsif p_there.expires_at < v_expires_at or p_there.expires_at is not null and v_expires_at is null
  then  -- an edit must not end with the patience of an earlier caller
    update qwf.jobs j set expires_at = v_expires_at where j.id = p_there.id;
  end if;
  if num_nonnulls(p_there.expires_at, v_expires_at) > 0 then
    delete from qwf.waits w where w.job_id = p_there.id and v_expires_at is null;
    perform _qwf.add_waits(array[p_there.id]);
  end if;
  if v_sooner then
    update qwf.jobs j set
      status = case when v_now then 'queued' else 'scheduled' end::qwf.job_status,
      run_at = case when not v_now then p_job.run_at end,
      position = case when v_now then _qwf.next_position() end,
      queued_at = case when v_now then p_now end
    where j.id = p_there.id;
  end if;
end $$;

commit;
