-- Deploy qwf:functions/claim/_check_claim
-- Purpose: Refuses a claim without a worker, or with a bad number of jobs or lease.
-- Raises: QW005.
-- Called by: claim.

begin;

create function _qwf.check_claim(p_worker text, p_max_jobs int, p_lease interval) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_worker is null or octet_length(p_worker) > 500
    or p_max_jobs is null or p_max_jobs not between 1 and 1000
    or not _qwf.is_duration(p_lease, '1 day', p_least => '1 s') then
    raise exception using errcode = 'QW005', message = 'invalid claim',
      detail = format('worker %L, max_jobs %s, lease %s', left(p_worker, 500), p_max_jobs, p_lease),
      hint = 'name the worker, and claim 1 to 1000 jobs with a lease from one second to one day';
  end if;
end $$;

commit;
