-- Deploy qwf:functions/lines/_ring_of_keys
-- Purpose: Returns the keys in the first band of a line, from p_at (exclusive) round to it, that
--   have a job that fits the worker, and whether each seems to have room.
-- Guarantees: Steps from a job that fits to the next key, one probe of jobs_keyed each, whatever
--   the number of jobs of the key. A probe that finds none that fits returns a row that is not
--   open, and the next one goes on there. n: how much it has looked at, counted in keys, see
--   _next_fit. The walk ends when n has come to 256. Locks nothing. Rows without a name: the walk
--   begins (n is 0), comes to the end of the line (part is 2), has come round (part is 3). pinned:
--   it has passed a job that waits for another host. One statement without a pinned search_path, so
--   that the planner puts it into the query that reads it, and that reads no more keys than it
--   needs.
-- Called by: _pick_keyed.

begin;

create function _qwf.ring_of_keys(
  p_queue text, p_worker qwf.workers, p_now timestamptz, p_light_only boolean, p_at bigint)
returns table (
  band bigint, place bigint, name text, head bigint, n int, part int, max_running int, open boolean,
  pinned boolean)
language sql stable
as $$
  with recursive ring (band, place, after, name, head, good, n, part, pinned) as (
    (select _qwf.band_of(j), p_at, 9223372036854775807, null::text, null::bigint, false, 0, 1, false
    from qwf.jobs j
    where _qwf.line_of(j) = p_queue and j.limit_place is not null
      and j.status in ('queued', 'running')
    order by _qwf.line_of(j), _qwf.band_of(j) limit 1)
    union all
    select r.band, coalesce(k.place, -9223372036854775808),
      coalesce(k.after, 9223372036854775807), k.name, k.head, k.good,
      r.n + coalesce(k.weight, 1),
      case when k.place is null then r.part + 1 else r.part end, (r.pinned or k.pins) is true
    from ring r
    left join lateral _qwf.next_fit(p_queue, r.band, r.place, r.after,
      case r.part when 1 then 9223372036854775807 else p_at end, p_worker, p_now, p_light_only,
      r.pinned) k on true
    where r.n < 256 and r.part < 3
  )
  select r.band, r.place, r.name, r.head, r.n, r.part, l.max_running,
    r.good and l.max_running > (select count(*) from (  -- as in _pick_of_keys
      select from qwf.jobs j
      where _qwf.line_of(j) is null and _qwf.band_of(j) is null and j.limit_place = r.place
        and j.limit_by = r.name and j.status in ('queued', 'running')
      limit l.max_running) c)
      and not exists (select from qwf.limit_holds h
        where h.name = any (array[l.name, r.name]) and h.until > p_now),
    r.pinned
  from ring r
  left join qwf.limits l on l.name = split_part(r.name, ':', 1) and l.keyed
$$;

commit;
