-- Deploy qwf:functions/workers/progress
-- Purpose: Records the progress of a body.
-- Guarantees: Never waits. Changes nothing for a stale token.
-- Locks: the job, if nobody else has locked it.
-- Raises: QW005 for a fraction outside 0 to 1, and for a checkpoint or a series, which have their
--   places in the protocol and are not kept yet.

begin;

create function qwf.progress(
  job_id bigint, token uuid, fraction real default null, message text default null,
  checkpoint jsonb default null, series jsonb default null)
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
  if num_nonnulls(progress.checkpoint, progress.series) > 0 then
    raise exception using errcode = 'QW005', message = 'not built yet',
      detail = 'checkpoint and series cannot be kept by this version',
      hint = 'leave them out: nothing of this call is written';
  end if;
  select j.* into v_job
  from qwf.jobs j
  where j.id = progress.job_id and j.token = progress.token;
  if not found then
    return 'lost';
  end if;
  update qwf.jobs j set
    progress = coalesce(progress.fraction, j.progress), beat_at = qwf.now(),
    progress_message = coalesce(left(progress.message, 1000), j.progress_message)
  from (
    select f.id from qwf.jobs f
    where f.id = progress.job_id and f.token = progress.token
    for no key update skip locked
  ) free
  where j.id = free.id;
  return case
    when _qwf.should_stop(v_job.id, v_job.run_id, v_job.run_if, v_job.parent_id) then 'cancel'
    else 'ok'
  end;
end $$;
comment on function qwf.progress is
  'Records the fraction done (0 to 1) and a message; returns ok, cancel (stop the body) or lost '
  '(the job is not yours any more). checkpoint and series are refused until they can be kept.';
call _qwf.allow('qwf.progress', 'qwf_worker');

commit;
