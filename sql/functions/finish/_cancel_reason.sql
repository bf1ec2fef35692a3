-- Deploy qwf:functions/finish/_cancel_reason
-- Purpose: Who asked for a running job to be cancelled, and why.
-- Guarantees: Read before the request is cleared away with the job's end.
-- Called by: _write_uncompleted.

begin;

create function _qwf.cancel_reason(p_job_id bigint) returns text
language sql stable
as $$
  select 'cancelled by ' || c.requested_by || coalesce(': ' || c.reason, '')
  from qwf.cancel_requests c
  where c.job_id = p_job_id
$$;

commit;
