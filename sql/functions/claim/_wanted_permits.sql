-- Deploy qwf:functions/claim/_wanted_permits
-- Purpose: Returns how many permits of each limit a claim would use if no rival took any: of
--   limits with a rate at most p_startable, the first in claim order.
-- Guarantees: Locks the jobs without a limit already: a job that a rival holds must not count ahead
--   of a limited one behind it, however long the rival holds it. Costs one index probe for each
--   limit that has queued jobs in the queue, however many jobs wait for a full
--   limit, or for one whose rate is used up.
-- Locks: the next queued jobs without a limit that nobody else has locked.
-- Called by: _lock_wanted_permits.

begin;

create function _qwf.wanted_permits(
  p_queue text, p_worker qwf.workers, p_now timestamptz, p_count int, p_light_only boolean,
  p_startable int, p_at_most jsonb)
returns table (limit_name text, wanted int)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_unlimited _qwf.picked[] := case
    when p_worker.rank < 0 and not p_light_only
      then _qwf.pick_newest(p_queue, p_worker, p_now, p_count, '{}')
    else _qwf.pick_next(p_queue, p_worker, p_now, p_count, p_light_only, '{}') end;
begin
  return query
  with recursive waiting (name) as (  -- steps from limit to limit
    (select j.limit_by from qwf.jobs j
      where j.queue = p_queue and j.status = 'queued' and j.limit_by is not null
        and j.limit_place is null order by j.limit_by limit 1)
    union all
    select (select j.limit_by from qwf.jobs j
      where j.queue = p_queue and j.status = 'queued' and j.limit_by > w.name
        and j.limit_place is null order by j.limit_by limit 1)
    from waiting w where w.name is not null
  ), room as (
    select l.name, l.starts > 0 as rated, least((p_at_most ->> l.name)::int, f.free - a.above,
      r.ready, case when l.starts > 0 then p_startable end)::int as permits
    from waiting w
    join qwf.limits l on l.name = w.name and not exists (
      select from qwf.limit_holds h where h.name = l.name and h.until > p_now)
    cross join lateral (select count(*) as above from qwf.limit_slots s
      where s.limit_name = l.name and s.slot > l.max_running and s.job_id is not null) a
    cross join lateral (select count(*) as free from (
      select from qwf.limit_slots s where s.limit_name = l.name and s.slot <= l.max_running
        and s.job_id is null limit p_count + a.above) s) f
    cross join lateral (select case when l.starts > 0 then count(*) end as ready from (
      select from qwf.limit_starts t
      where t.limit_name = l.name and t.used_at <= p_now - l.per and t.place <= l.starts
      order by t.used_at limit p_count) t) r
  ), candidate as (
    select j.id, j.limit_by, j.run_next, j.priority, j.position, j.required_model as model, j.rated
    from (
      select l.*, r.rated from room r
      cross join lateral _qwf.peek(p_queue, r.name, p_worker, p_now, r.permits, p_light_only) l
      where r.permits > 0
      union all
      select f.*, false from qwf.jobs f
      where f.id = any (array(select p.id from unnest(v_unlimited) p))
    ) j
  ), preferred (model) as (  -- as in _pick
    select p_worker.current_model from qwf.settings s
    where p_worker.current_model is not null and not p_light_only
      and _qwf.head_waited(p_queue, p_worker, p_now, array(
        select c.id from candidate c where c.limit_by is not null)) < s.affinity_max_wait
  ), line as (
    select d.limit_by, d.rated, row_number() over (order by d.run_next desc,
      d.model = p.model desc nulls last, d.priority,
      case when p_worker.rank < 0 then -d.position else d.position end) as nth
    from candidate d left join preferred p on true
  )
  select c.limit_by, count(*)::int from (
    select l.limit_by from line l left join (
      select o.nth from line o where o.rated order by o.nth offset p_startable limit 1) e on true
    where coalesce(not l.rated or l.nth < e.nth, true)
    order by l.nth limit p_count) c
  where c.limit_by is not null group by c.limit_by;
end $$;

commit;
