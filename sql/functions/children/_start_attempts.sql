-- Deploy qwf:functions/children/_start_attempts
-- Purpose: Makes jobs on the queue of runs running, with the engine as their worker.
-- Guarantees: As claim does for a job; their leases never lapse.
-- Locks: the caller has locked the jobs.
-- Called by: _serve_run, _start_children.

begin;

create function _qwf.start_attempts(
  p_jobs bigint[], p_contexts jsonb[], p_secret bytea, p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
begin
  update qwf.jobs j set
    status = 'running', token = _qwf.new_token(j.id, p_secret), attempt = j.attempt + 1,
    lease_expires_at = '9999-01-01', resolved_inputs = p.context, claimed_at = p_now,
    claimed_by = 'qwf.engine', started_at = coalesce(j.started_at, p_now), run_next = false
  from unnest(p_jobs, p_contexts) p (id, context)
  where j.id = p.id;
end $$;

commit;
