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
  if cardinality(p_jobs) > 1000 then
    raise exception using errcode = 'QW005', message = 'too many jobs',
      detail = format('jobs has %s ids, at most 1000', cardinality(p_jobs)),
      hint = 'call it once for each 1000 jobs';
  elsif exists (select from unnest(p_jobs) u where u is null) then
    raise exception using errcode = 'QW005', message = 'null is not the id of a job',
      detail = 'jobs has a null', hint = 'leave it out';
  end if;
  select coalesce(array_agg(j.id order by j.id), '{}'), array_agg(distinct j.run_id)
  into v_jobs, v_runs
  from qwf.jobs j
  where j.id = any (p_jobs);
  perform _qwf.lock_runs(v_runs, true);
  return v_jobs;
end $$;

commit;
