-- Deploy qwf:functions/change/_lock_listed
-- Purpose: Checks a list of jobs, locks their runs, and returns those that exist.
-- Guarantees: No other job may be changed by the caller: the run of a job that is not returned is
--   not locked, and locking it later would break the order of locks.
-- Locks: runs, by id.
-- Raises: QW005 for a list of more than 1000 jobs, or with a null in it.
-- Called by: cancel_jobs, retry_jobs.

begin;

create function _qwf.lock_listed(p_jobs bigint[]) returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_jobs bigint[];
  v_runs bigint[];
begin
  perform _qwf.check_listed(p_jobs);
  select coalesce(array_agg(j.id order by j.id), '{}'), array_agg(distinct j.run_id)
  into v_jobs, v_runs
  from qwf.jobs j
  where j.id = any (p_jobs);
  perform _qwf.lock_runs(v_runs);
  return v_jobs;
end $$;

commit;
