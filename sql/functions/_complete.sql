-- Deploy qwf:functions/_complete
-- Purpose: Writes the end of attempts that completed.
-- Guarantees: Who completes is not asked whether somebody wanted him stopped. Rows are updated
--   where they were locked.
-- Locks: expects the jobs locked by the caller.
-- Called by: _conclude.

begin;

create function qwf._complete(p_held qwf.held[], p_now timestamptz) returns qwf.ended[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ended qwf.ended[];
begin
  with ended as (
    update qwf.jobs j set
      status = 'completed', output = h.output, run_at = null, finished_at = p_now,
      last_error = null, last_exit_code = qwf._number(h.detail -> 'exit_code', 65535)::int,
      token = null, lease_expires_at = null
    from unnest(p_held) h
    where j.ctid = h.row and h.outcome = 'completed'
    returning (h.id, h.run_id, h.node_id, h.queue, j.status, h.attempt, h.token, h.claimed_by,
      h.queued_at, h.claimed_at, h.outcome, h.error, h.detail, h.limit_by, h.task)::qwf.ended as job
  )
  select coalesce(array_agg(e.job), '{}') into v_ended from ended e;
  return v_ended;
end $$;
revoke all on function qwf._complete from public;

commit;
