-- Deploy qwf:functions/_is_stopped
-- requires: schema/jobs
-- Purpose: Whether a running job should stop.
-- Guarantees: Reads committed state; takes no lock.
-- Called by: _conclude, heartbeat, progress.

begin;

create function qwf._is_stopped(p_job_id bigint, p_run_id bigint) returns boolean
language sql stable
as $$
  select exists (select from qwf.cancel_requests c where c.job_id = p_job_id)
    or exists (
      select from qwf.runs r
      where r.id = p_run_id and r.status in ('completed', 'failed', 'cancelled'))
$$;
comment on function qwf._is_stopped(bigint, bigint) is
  'True where somebody asked for the job to be cancelled, or its run is over.';
revoke all on function qwf._is_stopped(bigint, bigint) from public;

commit;
