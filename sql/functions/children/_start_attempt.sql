-- Deploy qwf:functions/children/_start_attempt
-- Purpose: Makes a job on the queue of runs running, with the engine as its worker.
-- Guarantees: As claim does for a job; its lease never lapses.
-- Locks: the caller has locked the job.
-- Called by: _serve_run.

begin;

create function _qwf.start_attempt(
  p_job qwf.jobs, p_context jsonb, p_secret bytea, p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update qwf.jobs j set
    status = 'running', token = _qwf.new_token(j.id, p_secret), attempt = j.attempt + 1,
    lease_expires_at = '9999-01-01', resolved_inputs = p_context, claimed_at = p_now,
    claimed_by = 'qwf.engine', started_at = coalesce(j.started_at, p_now), run_next = false,
    position = case when j.limit_place is null then j.position else _qwf.next_position() end,
    progress = null, progress_message = null, beat_at = null
  where j.id = p_job.id;
end $$;

commit;
