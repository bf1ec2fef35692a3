-- Deploy qwf:functions/change/_try_job
-- Purpose: Cancels or retries one job of a list, and returns the verdict.
-- Guarantees: A refusal changes nothing and does not stop the caller. An error that a later try may
--   not meet does. A failed or cancelled node is retried through its run, which runs all its failed
--   and cancelled nodes again; none of them is named, so a map keeps its completed elements,
--   and a body that runs at most once and may have run does not run again.
-- Locks: expects the run of the job locked by the caller, or, for retry, the job if it has no run.
-- Raises: errors that pass (see _is_passing_error), 57014.
-- Called by: cancel_jobs, retry_jobs.

begin;

create function _qwf.try_job(p_verb text, p_job bigint, p_reason text default null)
returns qwf.job_verdict
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_verdict qwf.job_verdict;
  v_run_id bigint;
begin
  v_verdict.job_id := p_job;
  if p_verb = 'cancel' then
    v_verdict.verdict := qwf.cancel_job(p_job, p_reason);
    return v_verdict;
  end if;
  select j.run_id into v_run_id from qwf.jobs j where j.id = p_job;
  if v_run_id is null and exists (select from qwf.jobs j where j.id = p_job and j.begun) then
    raise exception using errcode = 'QW002', message = 'it may have run',
      detail = format('job %s runs at most once', p_job),
      hint = format('look whether it has run; if it has not, retry it by its id: '
        'select qwf.retry_job(%s)', p_job);
  elsif v_run_id is null then
    perform qwf.retry_job(p_job);
  else
    perform qwf.retry_run(v_run_id);
  end if;
  v_verdict.verdict := 'retried';
  return v_verdict;
exception
  when others then
    if _qwf.is_passing_error(sqlstate) then
      raise;
    end if;
    v_verdict := (p_job, 'refused', sqlstate, sqlerrm, null, null)::qwf.job_verdict;
    get stacked diagnostics
      v_verdict.detail = pg_exception_detail, v_verdict.hint = pg_exception_hint;
    return v_verdict;
end $$;

commit;
