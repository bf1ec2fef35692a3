-- Deploy qwf:functions/shared/_delete_jobs
-- Purpose: Deletes jobs and everything kept about them.
-- Guarantees: Replaces foreign keys, so that no insert pays for one (docs/adr/0003).
-- Locks: expects the jobs, or their run, locked by the caller.
-- Called by: _delete_runs_below, _drop_completed, _end_attempts, _move_run, _prune_jobs,
--   _prune_runs, _reset_nodes, _resume_maps, _settle_cancel_requests.

begin;

create function _qwf.delete_jobs(p_jobs bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
begin
  delete from qwf.job_attempts a where a.job_id = any (p_jobs);
  delete from qwf.input_answers a where a.job_id = any (p_jobs);
  delete from qwf.run_files f where f.job_id = any (p_jobs);
  delete from qwf.live_logs l where l.job_id = any (p_jobs);
  delete from qwf.cancel_requests c where c.job_id = any (p_jobs);
  delete from qwf.waits w where w.job_id = any (p_jobs);
  delete from qwf.checkpoints c where c.job_id = any (p_jobs);
  delete from qwf.job_progress p where p.job_id = any (p_jobs);
  delete from qwf.attempt_series s where s.job_id = any (p_jobs);
  delete from qwf.jobs j where j.id = any (p_jobs);
end $$;

commit;
