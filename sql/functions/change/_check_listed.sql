-- Deploy qwf:functions/change/_check_listed
-- Purpose: Refuses a list of jobs that is too long, or has a null in it.
-- Raises: QW005.
-- Called by: _lock_listed, change_jobs.

begin;

create function _qwf.check_listed(p_jobs bigint[]) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if cardinality(p_jobs) > 1000 then
    raise exception using errcode = 'QW005', message = 'too many jobs',
      detail = format('jobs has %s ids, at most 1000', cardinality(p_jobs)),
      hint = 'call it once for each 1000 jobs';
  elsif exists (select from unnest(p_jobs) u where u is null) then
    raise exception using errcode = 'QW005', message = 'null is not the id of a job',
      detail = 'jobs has a null', hint = 'leave it out';
  end if;
end $$;

commit;
