-- Deploy qwf:functions/lines/_ring_of_keys
-- Purpose: Returns the keys of a band of a line that have room and a job that fits the worker, from
--   the one after p_at round to it.
-- Guarantees: One probe of jobs_keyed a key. Locks nothing, so the room may be gone. Goes on after
--   the row p_from of an earlier call. Also returns jobs that wait for another host (fits is not
--   true), and rows without a name: the walk has come to the end of the line (part is 2), or round
--   (part is 3). One query without a pinned search_path, so that the planner puts it into the one
--   that reads it, and that looks at no more keys than it needs.
-- Called by: _pick_keyed.

begin;

create function _qwf.ring_of_keys(
  p_queue text, p_at bigint, p_from _qwf.limit_key, p_worker qwf.workers, p_now timestamptz,
  p_light_only boolean)
returns table (
  part int, place bigint, after bigint, name text, head bigint, fits boolean, max_running int,
  starts int, per interval, nth int, pinned boolean)
language sql stable
as $$
  with recursive ring (part, place, after, name, head, fits, nth, pinned) as (
    select p_from.part, p_from.place, p_from.after, null::text, null::bigint, null::boolean,
      p_from.nth, p_from.pinned
    union all
    select
      case when k.place is null then r.part + 1 else r.part end,
      coalesce(k.place, -9223372036854775808),
      case when k.fits then 9223372036854775807 else coalesce(k.head, 9223372036854775807) end,
      k.name, k.head, k.fits, r.nth + 1, r.pinned or k.fits is false
    from ring r
    left join lateral (
      select c.* from (
        select j.limit_place as place, j.limit_by as name, j.position as head,
          (j.light or not p_light_only) and _qwf.fits(j, p_worker, p_now) as fits,
          j.requires ? 'host' as pinned
        from qwf.jobs j
        where _qwf.line_of(j) = p_queue and _qwf.band_of(j) = p_from.band
          and (j.limit_place, j.position) > (r.place, r.after)
          and j.limit_place <= case r.part when 1 then 9223372036854775807 else p_at end
          and j.status in ('queued', 'running')
        order by j.limit_place, j.position offset 0) c
      where c.fits or c.pinned limit 1) k on true
    where r.part < 3
  )
  select r.part, r.place, r.after, r.name, r.head, r.fits, l.max_running, l.starts, l.per, r.nth,
    r.pinned
  from ring r
  left join qwf.limits l on l.name = split_part(r.name, ':', 1) and l.keyed
  left join lateral _qwf.room_of_key(
    r.place, r.name, l.max_running, l.starts, l.per, p_now) o on r.fits
  where r.nth > p_from.nth and (r.fits is not true or o.room > 0 and not exists (
    select from qwf.limit_holds h
    where h.name = any (array[l.name, r.name]) and h.until > p_now))
$$;

commit;
