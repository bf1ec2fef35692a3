-- Deploy qwf:functions/walks/_fits
-- Purpose: True when claim may hand a queued job to a worker. Every walk filters by it.
-- Guarantees: Agrees with _why_unfit_for, which says the same in words. A job that waits does not
--   fit while another of its key has started and is queued or running. One expression without a
--   pinned search_path, so that the planner inlines it into every walk.
-- Called by: every walk of claim, and functions that pass on a wake-up or find an overlooked job.

begin;

create function _qwf.fits(p_job qwf.jobs, p_worker qwf.workers, p_now timestamptz)
returns boolean
language sql stable
as $$
  select _qwf.can_run(p_job, p_worker)
    and (p_job.expires_at is null or p_job.attempt > 0 or p_job.expires_at > p_now)
    and (p_job.avoid_until is null or p_job.avoid_until <= p_now
      or p_job.avoid_host is distinct from p_worker.host
      or not _qwf.another_host_can(p_job, p_now))
    and (p_job.key is null or p_job.key_state = 's'
      or _qwf.started_with_key(p_job.project, p_job.task, p_job.key, false) is null)
$$;

commit;
