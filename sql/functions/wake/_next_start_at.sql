-- Deploy qwf:functions/wake/_next_start_at
-- Purpose: Returns when sleepers should next be woken because rates of limits allow jobs that wait
--   to start, or a hold ends; null: no limit is held, and no job waits for one with a rate.
-- Guarantees: One period after sleepers were last woken so at the latest, because what they take
--   then is not known yet; and not within 20 milliseconds, so that a high rate does not cost a tick
--   for each start. Costs a few index look-ups for each limit with a rate.
-- Called by: _next_start_s.

begin;

create function _qwf.next_start_at(p_now timestamptz) returns timestamptz
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
declare
  v_woken timestamptz := _qwf.last_start_wake(p_now);
  v_held timestamptz := (select min(h.until) from qwf.limit_holds h where h.until > p_now);
  v_at timestamptz;
begin
  if not exists (select from qwf.limits l where l.starts is not null) then
    return v_held;
  end if;
  select min(least(v_woken + l.per, n.at)) into v_at
  from qwf.limits l
  left join lateral (
    select t.used_at + l.per as at
    from qwf.limit_starts t
    where t.limit_name = l.name and t.used_at > v_woken - l.per and t.place <= l.starts
    order by t.used_at
    limit 1) n on true
  where l.starts is not null and exists (
    select from qwf.queues q
    cross join lateral (
      select from qwf.jobs j
      where j.queue = q.name and j.status = 'queued' and j.limit_by = l.name
        and j.limit_place is null limit 1) j);
  v_at := least(v_at, v_held, (  -- of a key; it may have no job that waits
    select k.opens_at from qwf.limit_keys k
    where k.opens_at > greatest(v_woken, p_now - interval '1 min')
    order by k.opens_at limit 1));
  return case when v_at is not null then greatest(v_at, v_woken + interval '20 ms') end;
end $$;

commit;
