-- Deploy qwf:functions/runs/_should_stop
-- Purpose: True when a running job should stop: someone asked for it, or the job is obsolete.
-- Guarantees: Reads committed state; takes no lock.
-- Called by: _stop_children, _write_ends, heartbeat, progress.

begin;

create function _qwf.should_stop(
  p_job_id bigint, p_run_id bigint, p_run_if text, p_parent_id bigint)
returns boolean
language sql stable
as $$
  select exists (select from qwf.cancel_requests c where c.job_id = p_job_id)
    or _qwf.is_obsolete(p_run_id, p_run_if, p_parent_id)
$$;

commit;
