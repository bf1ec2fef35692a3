-- Progress, checkpoints and series that bodies report. Locks: the job.

-- Records the progress of a body. Changes nothing for a stale token, but keeps the series of an
-- attempt that has just ended. For a job that runs at most once, begun is written under the lock
-- of the job: once it is answered ok, no other attempt follows by itself. It is not written if
-- the answer is lost or cancel, nor after the lease has lapsed. Never waits, except for begun
-- and a checkpoint.
-- Locks: the job; without begun, a checkpoint or series only if nobody else has locked it.
-- Raises: QW005 for a fraction outside 0 to 1, and for an invalid checkpoint or series.
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

-- Keeps the numbers that an attempt has tracked, in place of those it reported before. Writes
-- nothing for a token that is not of the job's last attempt, which may have ended, or for a job
-- that was deleted or erased. A job that is deleted takes its row along: finish_many asks for
-- its progress after it has deleted a job without a trace.
-- Locks: the job, only against its deletion, so that it waits for no other change of the job.
-- Raises: QW005 for more than 20 names, more than 500 points of a name, or an invalid point.
create function _qwf.save_series(p_job bigint, p_token uuid, p_series jsonb) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_problem text;
  v_job qwf.jobs;
begin
  if jsonb_typeof(p_series) <> 'object'
    or jsonb_typeof(p_series -> 'names') is distinct from 'object'
    or not coalesce(_qwf.as_number(p_series -> 'left_out', 1e6) >= 0, not p_series ? 'left_out')
  then
    v_problem := 'not an object with names';
  else
    select case
        when s.position > 20 then 'more than 20 names'
        when s.key = '' or length(s.key) > 100 then 'a name is empty or longer than 100 letters'
        when jsonb_typeof(s.value -> 'points') is distinct from 'array' then s.key || ': no points'
        when jsonb_array_length(s.value -> 'points') > 500 then s.key || ': more than 500 points'
        when s.value ? 'reported' and _qwf.as_number(s.value -> 'reported', 1e15) is null
          then s.key || ': reported is not a number'
        when exists (
          select from jsonb_array_elements(s.value -> 'points') p (point)
          where not coalesce(jsonb_typeof(p.point) = 'array' and jsonb_array_length(p.point) = 2
            and jsonb_typeof(p.point -> 0) = 'number'
            and jsonb_typeof(p.point -> 1) in ('number', 'null'), false))
          then s.key || ': a point is not [step, value]'
      end
      into v_problem
    from jsonb_each(p_series -> 'names') with ordinality s (key, value, position)
    order by 1 nulls last
    limit 1;
  end if;
  if v_problem is not null then
    raise exception using errcode = 'QW005', message = 'invalid series', detail = v_problem,
      hint = 'pass {"names": {"loss": {"points": [[1, 0.9], [2, 0.7]]}}}, at most 20 names of 500 '
        'points each';
  end if;
  select j.* into v_job from qwf.jobs j where j.id = p_job for key share;
  if not found or v_job.erased_parts is not null
    or v_job.token is distinct from p_token and not exists (
      select from qwf.job_attempts a
      where a.job_id = p_job and a.attempt = v_job.attempt and a.token = p_token)
  then
    return;
  end if;
  insert into qwf.job_progress (job_id, attempt, at)  -- so that the end of the job finds it
  select p_job, v_job.attempt, qwf.now() where v_job.token = p_token
  on conflict (job_id) do nothing;
  insert into qwf.attempt_series as s (job_id, attempt, run_id, at, series, left_out)
  values (p_job, v_job.attempt, v_job.run_id, qwf.now(), p_series -> 'names',
    coalesce((p_series -> 'left_out')::int, 0))
  on conflict (job_id, attempt) do update set
    at = excluded.at, series = excluded.series, left_out = excluded.left_out;
end $$;

-- Keeps the checkpoint of a running attempt; returns false if the job is not the worker's any
-- more. The token decides under the lock of the job: who takes the job away waits for this
-- transaction or comes first, so the next attempt gets what was saved, and an old worker never
-- overwrites it.
-- Locks: the job; waits for whoever has locked it, since a report that is left out would be
--   lost.
-- Raises: QW005 for a value that is not an object, or too large.
create function _qwf.save_checkpoint(p_job bigint, p_token uuid, p_value jsonb) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_attempt int;
begin
  if jsonb_typeof(p_value) <> 'object' then
    raise exception using errcode = 'QW005', message = 'invalid checkpoint',
      detail = 'checkpoint: ' || jsonb_typeof(p_value), hint = 'pass a JSON object';
  end if;
  perform _qwf.check_json('checkpoint', p_value, s.max_value_bytes) from qwf.settings s;
  select j.attempt into v_attempt
  from qwf.jobs j
  where j.id = p_job and j.token = p_token
  for no key update;
  if not found then
    return false;
  end if;
  insert into qwf.checkpoints as c (job_id, attempt, value, at)
  values (p_job, v_attempt, p_value, qwf.now())
  on conflict (job_id) do update set
    attempt = excluded.attempt, value = excluded.value, at = excluded.at;
  return true;
end $$;
