-- Deploy qwf:functions/change/cancel_jobs
-- Purpose: Cancels many jobs, each as cancel_job does.
-- Guarantees: One row for each job of the list. A job that is refused does not keep the others from
--   being cancelled, and undoes none of them. All runs are locked before the first job is touched,
--   and requests are written by job id, so two calls cannot deadlock, however their lists are
--   ordered.
-- Locks: the runs of all nodes, by id; then for each job, by id, as cancel_job.
-- Notifies: the workers of running jobs.

begin;

create function qwf.cancel_jobs(jobs bigint[], reason text default null)
returns setof qwf.job_verdict
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
declare
  v_found bigint[];
  v_job bigint;
begin
  perform _qwf.check_text('reason', cancel_jobs.reason, 4096);
  v_found := _qwf.lock_listed(cancel_jobs.jobs);
  foreach v_job in array v_found loop
    return next _qwf.try_job('cancel', v_job, cancel_jobs.reason);
  end loop;
  return query select * from _qwf.refusals('cancel', cancel_jobs.jobs, v_found);
end $$;
comment on function qwf.cancel_jobs is
  'Cancels at most 1000 jobs, each as cancel_job does, and returns a verdict for each: cancelled, '
  'requested or refused; a refused job does not stop the others. QW005 too many jobs, or a reason '
  'of more than 4 KiB.';
call _qwf.allow('qwf.cancel_jobs', 'qwf_producer');

commit;
