-- Deploy qwf:functions/_lock_attempts
-- requires: schema/types
-- requires: schema/jobs
-- Purpose: Locks the running jobs that reports are about.
-- Guarantees: In a statement of its own, so that the next one sees what was locked and may go by
--   the place of the row. A stale report locks nothing.
-- Locks: the jobs (by id).
-- Called by: _conclude.

begin;

create function qwf._lock_attempts(p_reports qwf.report[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform from (select u.job_id, u.token from unnest(p_reports) u order by u.job_id) r
  cross join lateral (  -- by id and token alone: the token is null unless running
    select from qwf.jobs j where j.id = r.job_id and j.token = r.token
    for no key update) held;
end $$;
comment on function qwf._lock_attempts(qwf.report[]) is
  'Locks the jobs whose current token these reports carry.';
revoke all on function qwf._lock_attempts(qwf.report[]) from public;

commit;
