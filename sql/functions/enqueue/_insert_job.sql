-- Deploy qwf:functions/enqueue/_insert_job
-- Purpose: Inserts one standalone job at a position, or merges it into the job of its key that
--   waits. With debounce it starts so long after this call, and at most debounce_max after it.
-- Guarantees: Never merges into a job that has started, so no edit is lost: a job of the same key
--   then waits behind it. The exceptions are once and refuse: they count every unfinished job, also
--   one that a claim has started meanwhile. If the job that waits starts or ends meanwhile, the new
--   one is inserted after all.
-- Locks: the key, against others who insert it; the job that it merges into, until the caller's
--   transaction ends: no claim can start that job with the old arguments meanwhile.
-- Raises: QW008 with key_mode refuse, or for replacing a job that was enqueued once.
-- Called by: enqueue, _insert_jobs, _line_up.

begin;

create function _qwf.insert_job(
  p_job _qwf.new_job, p_position bigint, p_now timestamptz)
returns qwf.enqueued
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_run_at timestamptz := coalesce(p_now + p_job.debounce, p_job.run_at);
  v_later boolean := coalesce(v_run_at > p_now, false);
  v_id bigint;
  v_merged qwf.enqueued;
begin
  loop
    if p_job.once or p_job.key_mode = 'refuse' then
      v_id := _qwf.started_with_key(p_job.project, p_job.task, p_job.key, true);
      if v_id is not null and p_job.once then
        return (v_id, true, 'old args', null)::qwf.enqueued;
      elsif v_id is not null then
        perform _qwf.raise_key_taken(v_id);
      end if;
    end if;
    insert into qwf.jobs as j (
      task, inputs, queue, priority, status, run_at, position, queued_at, key, once, key_state,
      options, required_model, light, vram_mb, requires, limit_by, limit_place, on_failure,
      expires_at, project, checked, labels, created_at, begun)
    values (
      p_job.task, p_job.args, p_job.queue, p_job.priority,
      case when v_later then 'scheduled' else 'queued' end::qwf.job_status, v_run_at,
      case when not v_later then p_position end, case when not v_later then p_now end,
      p_job.key, p_job.once, case when p_job.key is null or p_job.once then 'u' else 'w' end,
      _qwf.options_of(p_job, p_now + coalesce(p_job.debounce_max, 10 * p_job.debounce)),
      p_job.model, p_job.light, p_job.vram_mb, p_job.requires, p_job.limit_by,
      _qwf.limit_place(p_job.limit_by),
      p_job.on_failure, greatest(v_run_at, p_now) + p_job.expires, p_job.project,
      _qwf.is_checked(p_job.labels), p_job.labels - 'qwf.checked', p_now,
      case when p_job.at_most_once then false end)
    on conflict (project, task, key, (key_state = 's'))
      where key is not null and (once or status in ('scheduled', 'queued', 'running'))
      do nothing
    returning j.id into v_id;
    if found then
      exit when not (p_job.once or coalesce(p_job.key_mode = 'refuse', false))
        or _qwf.started_with_key(p_job.project, p_job.task, p_job.key, true) is null;
      delete from qwf.jobs j where j.id = v_id;  -- the insert has waited for a claim of the older
      continue;
    end if;
    v_merged := _qwf.merge_waiting(p_job);
    if v_merged.job_id is not null then
      return v_merged;
    end if;  -- else it started or ended: its place is free
  end loop;
  if p_job.expires is not null then
    perform _qwf.add_waits(array[v_id]);
  end if;
  return (v_id, false, 'new', case when v_later then v_run_at end)::qwf.enqueued;
end $$;

commit;
