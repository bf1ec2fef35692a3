-- Deploy qwf:functions/claim/_fits
-- Purpose: Whether claim hands a queued job to a worker: the one filter of every walk.
-- Guarantees: Agrees with _why_unfit_for, which says it in words. One expression without a pinned
--   search_path, so that the planner writes it into every walk.
-- Called by: every walk of claim, and whoever passes a wake-up on.

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
$$;

commit;
