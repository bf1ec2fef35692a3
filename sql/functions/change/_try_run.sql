-- Deploy qwf:functions/change/_try_run
-- Purpose: Cancels or retries one run of a list, and returns the verdict.
-- Guarantees: A refusal changes nothing and does not stop the caller. An error that a later try may
--   not meet does.
-- Locks: expects the run locked by the caller; then as cancel_run or retry_run.
-- Raises: errors that pass (see _is_passing_error), 57014.
-- Called by: _change_runs.

begin;

create function _qwf.try_run(p_verb text, p_run bigint, p_reason text) returns qwf.run_verdict
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_verdict qwf.run_verdict;
begin
  v_verdict.run_id := p_run;
  if p_verb = 'cancel' then
    v_verdict.verdict :=
      case when qwf.cancel_run(p_run, p_reason) then 'cancelled' else 'unchanged' end;
  else
    perform qwf.retry_run(p_run);
    v_verdict.verdict := 'retried';
  end if;
  return v_verdict;
exception
  when others then
    if _qwf.is_passing_error(sqlstate) then
      raise;
    end if;
    v_verdict := (p_run, 'refused', sqlstate, sqlerrm, null, null)::qwf.run_verdict;
    get stacked diagnostics
      v_verdict.detail = pg_exception_detail, v_verdict.hint = pg_exception_hint;
    return v_verdict;
end $$;

commit;
