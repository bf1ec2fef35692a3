-- Deploy qwf:functions/limit_keys/_next_band
-- Purpose: Returns the next band of the line of a queue in which jobs wait; no row: there is none.
-- Guarantees: Costs one probe of jobs_keyed. One query without a pinned search_path, so that the
--   planner puts it into the statement that reads it.
-- Called by: create_limit, hold_limit, _count_queued, _pick_keyed, _wake_for_keys,
--   _wake_for_starts, _wake_overlooked.

begin;

create function _qwf.next_band(p_queue text, p_after bigint) returns table (band bigint)
language sql stable
as $$
  select _qwf.band_of(j) from qwf.jobs j
  where _qwf.line_of(j) = p_queue and _qwf.band_of(j) > coalesce(p_after, -9223372036854775808)
    and j.limit_place is not null and j.status in ('queued', 'running')
  order by _qwf.line_of(j), _qwf.band_of(j) limit 1
$$;

commit;
