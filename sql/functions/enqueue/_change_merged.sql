-- Deploy qwf:functions/enqueue/_change_merged
-- Purpose: Writes what a job that waits gets from one that is merged into it, and returns when it
--   starts; null: it is queued.
-- Guarantees: Writes nothing if nothing changes. A call with debounce moves the start to so long
--   after this moment, also of a job that was just queued, but never beyond what an earlier call
--   allows: start_by, or the start that it asked for without debounce. A job that a worker had, or
--   that a person has changed, is never moved to later. A replaced
--   job has the login of who replaced it: what it does is theirs.
-- Locks: the caller has locked the job; one that may change here not only shared.
-- Called by: _merge_waiting.

begin;

create function _qwf.change_merged(p_there qwf.jobs, p_job _qwf.new_job) returns timestamptz
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := qwf.now();  -- the caller may have waited for the lock
  v_asked timestamptz := greatest(coalesce(v_now + p_job.debounce, p_job.run_at), v_now);
  v_expires_at timestamptz := v_asked + p_job.expires;
  v_starts timestamptz := case p_there.status when 'scheduled' then p_there.run_at else v_now end;
  v_bound timestamptz := case p_there.attempt when 0 then (p_there.options).start_by end;
  v_start_by timestamptz := least(coalesce(v_bound, v_starts),
    coalesce(v_now + coalesce(p_job.debounce_max, 10 * p_job.debounce), v_asked));
  v_run_at timestamptz := least(
    v_asked, v_start_by, case when p_job.debounce is null then v_starts end);
  v_later boolean := v_run_at > v_now;
begin
  if p_job.key_mode = 'replace' then
    update qwf.jobs j set
      inputs = p_job.args, checked = _qwf.is_checked(p_job.labels),
      labels = p_job.labels - 'qwf.checked', queue = p_job.queue,
      priority = p_job.priority, limit_by = p_job.limit_by,
      limit_place = _qwf.limit_place(p_job.limit_by),
      expires_at = v_expires_at,
      options = _qwf.options_of(p_job, (j.options).start_by),
      required_model = p_job.model, light = p_job.light, vram_mb = p_job.vram_mb,
      requires = p_job.requires, on_failure = p_job.on_failure,
      begun = case when p_job.at_most_once then false end,
      login = session_user, acting_for = _qwf.acting_for(), schedule = null
    where j.id = p_there.id;
  elsif p_there.expires_at < v_expires_at or p_there.expires_at is not null and v_expires_at is null
  then  -- an edit must not end with the patience of an earlier caller
    update qwf.jobs j set expires_at = v_expires_at where j.id = p_there.id;
  end if;
  if num_nonnulls(p_there.expires_at, v_expires_at) > 0 then
    delete from qwf.waits w where w.job_id = p_there.id and v_expires_at is null;
    perform _qwf.add_waits(array[p_there.id]);
  end if;
  if v_start_by < v_bound or (p_there.status = 'scheduled') <> v_later
    or v_later and v_run_at <> p_there.run_at
  then
    update qwf.jobs j set
      status = case when v_later then 'scheduled' else 'queued' end::qwf.job_status,
      run_at = case when v_later then v_run_at end,
      options.start_by = case
        when v_bound is not null or p_job.debounce is not null then v_start_by end,
      position = case when not v_later then coalesce(j.position, _qwf.next_position()) end,
      queued_at = case when not v_later then coalesce(j.queued_at, v_now) end
    where j.id = p_there.id;
  end if;
  return case when v_later then v_run_at end;
end $$;

commit;
