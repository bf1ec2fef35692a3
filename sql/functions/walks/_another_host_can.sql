-- Deploy qwf:functions/walks/_another_host_can
-- Purpose: True when a worker on another host could take a job that avoids one. The worker must be
--   live and switched on.
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
      and not exists (
        select from qwf.switched_off o where o.host = w.host and o.queue = w.queue));
end $$;

commit;
