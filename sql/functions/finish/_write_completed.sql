-- Deploy qwf:functions/finish/_write_completed
-- Purpose: Writes the end of attempts that completed.
-- Guarantees: Completion wins over a pending cancel request. Each row is updated at the ctid where
--   it was locked.
-- Locks: the caller has locked the jobs.
-- Called by: _end_attempts.

begin;

create function _qwf.write_completed(p_held _qwf.held[], p_now timestamptz) returns _qwf.ended[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ended _qwf.ended[];
begin
  with ended as (
    update qwf.jobs j set
      status = 'completed', output = h.output, run_at = null, finished_at = p_now,
      last_error = null, last_exit_code = _qwf.as_number(h.detail -> 'exit_code', 65535)::int,
      token = null, lease_expires_at = null
    from unnest(p_held) h
    where j.ctid = h.row and h.outcome = 'completed'
    returning (h.id, h.run_id, h.node_id, h.queue, j.status, h.attempt, h.token, h.claimed_by,
      h.queued_at, h.claimed_at, h.outcome, h.error, h.detail, h.limit_by,
      h.task)::_qwf.ended as job
  )
  select coalesce(array_agg(e.job), '{}') into v_ended from ended e;
  return v_ended;
end $$;

commit;
