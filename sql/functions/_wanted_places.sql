-- Deploy qwf:functions/_wanted_places
-- requires: schema/jobs
-- requires: schema/limits
-- requires: schema/workers
-- requires: functions/_fits
-- requires: functions/_walk_limit
-- Purpose: How many places of which limits a claim would use, if nobody else claimed.
-- Guarantees: Looks, and locks nothing. Costs an index probe for each limit that has queued jobs in
--   the queue, whatever waits behind a limit that is full.
-- Called by: _lock_places.

begin;

create function qwf._wanted_places(
  p_queue text, p_worker qwf.workers, p_now timestamptz, p_count int, p_light_only boolean,
  p_at_most jsonb)
returns table (limit_name text, wanted int)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  with recursive waiting (name) as (  -- hops from limit to limit
    (select j.limit_by from qwf.jobs j
      where j.queue = p_queue and j.status = 'queued' and j.limit_by is not null
      order by j.limit_by limit 1)
    union all
    select (select j.limit_by from qwf.jobs j
      where j.queue = p_queue and j.status = 'queued' and j.limit_by > w.name
      order by j.limit_by limit 1)
    from waiting w
    where w.name is not null
  ), room as (
    select l.name, least((p_at_most ->> l.name)::int, f.free - a.above)::int as places
    from waiting w
    join qwf.limits l on l.name = w.name
    cross join lateral (select count(*) as above from qwf.limit_slots s
      where s.limit_name = l.name and s.slot > l.max_running and s.job_id is not null) a
    cross join lateral (select count(*) as free from (
      select from qwf.limit_slots s
      where s.limit_name = l.name and s.slot <= l.max_running and s.job_id is null
      limit p_count + a.above) s) f
  ), candidate (name, run_next, warm, priority, pos) as (
    (select null, j.run_next, j.required_model is not distinct from p_worker.current_model,
      j.priority, j.position
    from qwf.jobs j
    where exists (select from room r where r.places > 0)  -- else there is nothing to ask
      and j.queue = p_queue and j.status = 'queued' and j.limit_by is null
      and (j.light or not p_light_only) and qwf._fits(j, p_worker, p_now)
    order by j.run_next desc, j.priority, j.position
    limit p_count)
    union all
    select r.name, j.run_next, j.required_model is not distinct from p_worker.current_model,
      j.priority, j.position
    from room r
    cross join lateral qwf._walk_limit(
      p_queue, r.name, p_worker, p_now, r.places, p_light_only) j
    where r.places > 0
  )
  select c.name, count(*)::int
  from (
    select * from candidate d order by d.run_next desc, d.warm desc, d.priority, d.pos limit p_count
  ) c
  where c.name is not null
  group by c.name;
end $$;
comment on function qwf._wanted_places(
  text, qwf.workers, timestamptz, int, boolean, jsonb) is
  'Places of limits that the next jobs in claim order need; at most so many of those named.';
revoke all on function qwf._wanted_places(
  text, qwf.workers, timestamptz, int, boolean, jsonb) from public;

commit;
