-- Deploy qwf:functions/claim/_check_claim
-- Purpose: Refuses a claim from an unknown queue, without a worker, or with a bad lease, a bad
--   number of jobs or a bad number of those that could begin.
-- Raises: QW005, QW006.
-- Called by: claim.

begin;

create function _qwf.check_claim(
  p_queue text, p_worker text, p_max_jobs int, p_lease interval, p_startable int)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if starts_with(p_worker, 'qwf.') then
    perform _qwf.refuse_engine_name('worker', p_worker);
  elsif p_queue = 'qwf.runs'
    or not exists (select from qwf.queues q where q.name = p_queue)
  then
    perform _qwf.raise_unknown_queue(p_queue);
  end if;
  if p_worker is null or octet_length(p_worker) > 500
    or p_max_jobs is null or p_max_jobs not between 1 and 1000
    or not _qwf.is_duration(p_lease, '1 day', p_least => '1 s') then
    raise exception using errcode = 'QW005', message = 'invalid claim',
      detail = format('worker %L, max_jobs %s, lease %s', left(p_worker, 500), p_max_jobs, p_lease),
      hint = 'name the worker, and claim 1 to 1000 jobs with a lease from one second to one day';
  end if;
  if p_startable not between 0 and p_max_jobs then
    raise exception using errcode = 'QW005', message = 'startable must be 0 to max_jobs',
      detail = format('startable %s, max_jobs %s', p_startable, p_max_jobs),
      hint = 'say how many jobs you could begin now, or leave it out for 1';
  end if;
end $$;

commit;
