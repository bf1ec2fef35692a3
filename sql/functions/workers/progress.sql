-- Deploy qwf:functions/workers/progress
-- Purpose: Records the progress of a body.
-- Guarantees: Changes nothing for a stale token, but keeps the series of an attempt that has just
--   ended. Of a job that runs at most once, begun is written under the lock of the job, so whoever
--   takes it away comes before or after: once it is answered ok, it is on disk and no other attempt
--   follows by itself. It is not written if the answer is lost or cancel, nor after the lease has
--   lapsed. Never waits, unless it has begun, or a checkpoint, which is kept once the transaction
--   commits, or the answer is lost.
-- Locks: the job; without begun, a checkpoint or series only if nobody else has locked it.
-- Raises: QW005 for a fraction outside 0 to 1, for a checkpoint that is not an object or too large,
--   and for a series that is not one.

begin;

create function qwf.progress(
  job_id bigint, token uuid, fraction real default null, message text default null,
  checkpoint jsonb default null, series jsonb default null, begun boolean default false)
returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_job qwf.jobs;
begin
  if progress.fraction is not null and not (progress.fraction between 0 and 1) then
    raise exception using errcode = 'QW005', message = 'invalid progress',
      detail = format('fraction: %s', progress.fraction), hint = 'pass a number from 0 to 1';
  end if;
  if progress.series is not null then
    perform _qwf.save_series(progress.job_id, progress.token, progress.series);
  end if;
  if progress.checkpoint is not null
    and not _qwf.save_checkpoint(progress.job_id, progress.token, progress.checkpoint)
  then
    return 'lost';
  end if;
  if progress.begun then
    perform set_config('synchronous_commit', 'on', true)
    where current_setting('synchronous_commit') = 'off';
    perform from qwf.jobs j
    where j.id = progress.job_id and j.token = progress.token for no key update;
  end if;
  select j.* into v_job
  from qwf.jobs j
  where j.id = progress.job_id and j.token = progress.token;
  if not found then
    return 'lost';
  end if;
  if progress.begun and v_job.begun is not null then
    if v_job.lease_expires_at < qwf.now() and not v_job.begun then
      return 'lost';
    elsif _qwf.should_stop(v_job.id, v_job.run_id, v_job.run_if, v_job.parent_id) then
      return 'cancel';
    end if;
    update qwf.jobs j set begun = true where j.id = v_job.id;
  end if;
  insert into qwf.job_progress as p (job_id, attempt, fraction, message, at)
  select free.id, free.attempt, progress.fraction, left(progress.message, 1000), qwf.now()
  from (
    select f.id, f.attempt from qwf.jobs f
    where f.id = progress.job_id and f.token = progress.token
    for no key update skip locked
  ) free
  on conflict on constraint job_progress_pkey do update set
    attempt = excluded.attempt, at = excluded.at,
    fraction = coalesce(excluded.fraction,
      case when p.attempt = excluded.attempt then p.fraction end),
    message = coalesce(excluded.message, case when p.attempt = excluded.attempt then p.message end);
  return case
    when _qwf.should_stop(v_job.id, v_job.run_id, v_job.run_if, v_job.parent_id) then 'cancel'
    else 'ok'
  end;
end $$;
comment on function qwf.progress is
  'Records the fraction done (0 to 1), a message, and a checkpoint, an object that claim hands to '
  'the next attempt; begun, before the body of a job that runs at most once, is on disk '
  'when the answer comes: start the body only after ok. Returns ok, cancel (stop the body; a '
  'checkpoint was kept) or lost (the job is not yours any more; no checkpoint was written). series '
  'replaces the numbers that the attempt has tracked, also just after its end: '
  '{"names": {"loss": {"points": [[1, 0.9]], "reported": 1}}, "left_out": 0}.';
call _qwf.allow('qwf.progress', 'qwf_worker');

commit;
