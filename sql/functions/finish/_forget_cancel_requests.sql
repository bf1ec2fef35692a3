-- Deploy qwf:functions/finish/_forget_cancel_requests
-- Purpose: Deletes requests to cancel jobs that have ended.
-- Guarantees: Waits for nobody: tick() deletes those that are locked now.
-- Locks: cancel_requests of these jobs that are free.
-- Called by: _write_reports.

begin;

create function _qwf.forget_cancel_requests(p_jobs bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  delete from qwf.cancel_requests c
  using (
    select r.job_id from qwf.cancel_requests r
    where r.job_id = any (p_jobs)
    for update skip locked
  ) free
  where c.job_id = free.job_id;
end $$;

commit;
