-- Deploy qwf:functions/claim/_another_host_can
-- Purpose: Whether a live worker of another host, switched on, could take a job that avoids one.
-- Called by: _fits, _why_unfit_for.

begin;

create function _qwf.another_host_can(p_job qwf.jobs, p_now timestamptz) returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (
    select from qwf.workers w cross join qwf.settings s
    where w.queue = p_job.queue and w.stopped_at is null
      and w.last_seen > p_now - s.worker_stale
      and w.host <> p_job.avoid_host and _qwf.can_run(p_job, w)
      and qwf.desired_state(w.host, w.queue) = 'on');
end $$;

commit;
