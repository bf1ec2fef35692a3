-- Deploy qwf:functions/erase/_erase_history
-- Purpose: Overwrites what is personal in the history of jobs: attempts, logs, files,
--   checkpoints, tracked numbers, answers.
-- Guarantees: Numbers of attempts stay. The rows of files go: the caller has returned them.
-- Locks: expects the jobs and their runs locked by the caller, and ended.
-- Called by: erase.

begin;

create function _qwf.erase_history(p_jobs bigint[], p_parts text[], p_mark jsonb) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_errors boolean := 'errors' = any (p_parts);
  v_logs boolean := 'logs' = any (p_parts);
  v_who boolean := 'acting_for' = any (p_parts);
begin
  update qwf.job_attempts a set
    error = case when v_errors and a.error is not null then p_mark::text else a.error end,
    detail = case when v_errors then _qwf.erased_detail(a.detail, p_mark) else a.detail end,
    log_tail = case when v_logs and a.log_tail is not null then p_mark::text else a.log_tail end
  where a.job_id = any (p_jobs) and (v_errors or v_logs);
  update qwf.input_answers a set
    value = _qwf.erased('answers' = any (p_parts), a.value, p_mark),
    acting_for = case when v_who then null else a.acting_for end
  where a.job_id = any (p_jobs) and p_parts && '{answers,acting_for}';
  update qwf.outbox o set error = p_mark::text
  where o.run_id = any (_qwf.runs_of_jobs(p_jobs))
    and o.error is not null and v_errors;
  delete from qwf.live_logs l where l.job_id = any (p_jobs) and v_logs;
  update qwf.checkpoints c set value = p_mark
  where c.job_id = any (p_jobs) and 'output' = any (p_parts);
  delete from qwf.attempt_series s where s.job_id = any (p_jobs) and 'output' = any (p_parts);
  delete from qwf.run_files f where f.job_id = any (p_jobs) and 'output' = any (p_parts);
  delete from qwf.cancel_requests c
  where c.job_id = any (p_jobs) and p_parts && '{events,acting_for}';
end $$;

commit;
