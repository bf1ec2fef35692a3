-- Deploy qwf:functions/lines/_next_fit
-- Purpose: Finds the next job of a band of a line that fits the worker, from (p_place, p_after)
--   (exclusive) to p_to (inclusive).
-- Guarantees: Passes 31 jobs that do not fit, and then returns the next one, whether it fits or
--   not (good is false). So it does at the first one that waits for another host (pins), unless
--   p_pinned. after: where to go on, which is the next key if the job fits; weight: what this cost,
--   counted in keys. No row: there is no further job. Locks nothing. One statement without a pinned
--   search_path, so that the planner puts it into the query that reads it.
-- Called by: _next_keys, _ring_of_keys.

begin;

create function _qwf.next_fit(
  p_queue text, p_band bigint, p_place bigint, p_after bigint, p_to bigint, p_worker qwf.workers,
  p_now timestamptz, p_light_only boolean, p_pinned boolean)
returns table (
  place bigint, after bigint, name text, head bigint, good boolean, pins boolean, weight int)
language sql stable
as $$
  select s.place, case when s.good then 9223372036854775807 else s.head end, s.name, s.head, s.good,
    s.host and not s.good, 1
  from (
    select j.limit_place as place, j.limit_by as name, j.position as head,
      (j.light or not p_light_only) and _qwf.fits(j, p_worker, p_now) as good,
      j.requires ? 'host' as host
    from qwf.jobs j
    where _qwf.line_of(j) = p_queue and _qwf.band_of(j) = p_band
      and (j.limit_place, j.position) > (p_place, p_after) and j.limit_place <= p_to
      and j.status in ('queued', 'running')
    order by j.limit_place, j.position
    limit 32 offset 0) s
  where s.good or s.host and not p_pinned
  union all
  (select j.limit_place, j.position, j.limit_by, j.position, false, false, 8
  from qwf.jobs j
  where _qwf.line_of(j) = p_queue and _qwf.band_of(j) = p_band
    and (j.limit_place, j.position) > (p_place, p_after) and j.limit_place <= p_to
    and j.status in ('queued', 'running')
  order by j.limit_place, j.position
  limit 1 offset 31)
  limit 1
$$;

commit;
