-- Deploy qwf:functions/workers/_save_series
-- Purpose: Keeps the numbers that an attempt has tracked, in place of those it reported before.
-- Guarantees: Writes nothing for a token that is not of the job's last attempt. That attempt may
--   have ended: its last numbers and its end come over two connections. Nothing is written for a
--   job that was deleted or erased. A job that is deleted takes its row along: finish_many asks for its
--   progress after it has deleted a job without a trace.
-- Locks: the job, only against its deletion, so that it waits for no other change of the job.
-- Raises: QW005 for more than 20 names, more than 500 points of a name, or a point that is not
--   [step, value].
-- Called by: progress.

begin;

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

commit;
