-- Deploy qwf:functions/walks/_peek
-- Purpose: Returns the next queued jobs that fit a worker, of one limit or without a limit, in
--   claim order.
-- Guarantees: Locks nothing. Walks along the index of the jobs asked for, and passes only those
--   that do not fit.
-- Called by: _wanted_permits, _head_waited.

begin;

create function _qwf.peek(
  p_queue text, p_limit text, p_worker qwf.workers, p_now timestamptz, p_count int,
  p_light_only boolean)
returns setof qwf.jobs
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_limit is null then
    return query
    select j.* from qwf.jobs j
    where j.queue = p_queue and j.status = 'queued' and j.limit_by is null
      and (j.light or not p_light_only) and _qwf.fits(j, p_worker, p_now)
    order by j.run_next desc, j.priority, j.position limit p_count;
  else
    return query
    select j.* from qwf.jobs j
    where j.queue = p_queue and j.status = 'queued' and j.limit_by = p_limit
      and j.limit_place is null and coalesce(j.limit_by, j.required_model) = p_limit
      and (j.light or not p_light_only) and _qwf.fits(j, p_worker, p_now)
    order by j.run_next desc, j.priority, j.position limit p_count;
  end if;
end $$;

commit;
