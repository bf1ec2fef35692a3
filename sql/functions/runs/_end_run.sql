-- Deploy qwf:functions/runs/_end_run
-- Purpose: Decides how a live run ends when it does not complete: it failed, or was cancelled.
-- Guarantees: The first decision stands. A run with clean-up nodes that have not ended stays
--   running until they have, unless nothing of it ever began; with p_at_once it ends without them.
-- Locks: expects the run locked by the caller.
-- Called by: _end_failed_runs, cancel_run, _fail_overdue_runs, _fail_poisoned.

begin;

create function _qwf.end_run(
  p_run bigint, p_status qwf.run_status, p_error text, p_at_once boolean default false)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_clean_up boolean := not p_at_once
    and exists (  -- a claim notes the start of a run only where nobody holds it
      select from qwf.jobs j where j.run_id = p_run and j.attempt > 0)
    and exists (
      select from qwf.jobs j
      where j.run_id = p_run and j.run_if is not null and j.finished_at is null);
begin
  update qwf.runs r set
    status = case when v_clean_up then 'running' else coalesce(r.ending, p_status) end,
    ending = coalesce(r.ending, case when v_clean_up then p_status end),
    error = coalesce(r.error, p_error),
    started_at = coalesce(r.started_at, v_now),
    finished_at = case when not v_clean_up then v_now end
  where r.id = p_run and r.finished_at is null and (r.ending is null or p_at_once);
  return found;
end $$;

commit;
