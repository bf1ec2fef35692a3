-- Deploy qwf:functions/erase/_lock_ended
-- Purpose: Locks jobs that have ended, and returns them; with those that a retry has added to their
--   runs meanwhile.
-- Guarantees: Locks no job that runs or waits. A job that was retried before the lock is refused.
-- Locks: runs, by id; jobs that have ended, by id.
-- Raises: QW002.
-- Called by: erase.

begin;

create function _qwf.lock_ended(p_jobs bigint[]) returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_runs bigint[] := _qwf.runs_of_jobs(p_jobs);
  v_jobs bigint[];
begin
  perform _qwf.lock_runs(v_runs);
  v_jobs := array(
    select j.id from qwf.jobs j where j.id = any (p_jobs)
    union
    select j.id from qwf.jobs j where j.run_id = any (v_runs));
  perform j.id from qwf.jobs j
  where j.id = any (v_jobs) and j.finished_at is not null
  order by j.id
  for no key update;
  perform _qwf.check_ended(v_jobs);
  return v_jobs;
end $$;

commit;
