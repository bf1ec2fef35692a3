-- Deploy qwf:functions/lines/_room_of_key
-- Purpose: Returns how many more jobs of a key may run, and start now.
-- Guarantees: Exact if the statement began under the lock of the key. One query without a pinned
--   search_path, so that the planner puts it into the statement that reads it.
-- Called by: _pick_keyed, _ring_of_keys.

begin;

create function _qwf.room_of_key(
  p_place bigint, p_name text, p_max_running int, p_starts int, p_per interval, p_now timestamptz)
returns table (room int)
language sql stable
as $$
  select least(
    p_max_running - (
      -- both states: written so as not to use another index of running jobs
      select count(*) from (
        select from qwf.jobs j
        where _qwf.line_of(j) is null and _qwf.band_of(j) is null and j.limit_place = p_place
          and j.limit_by = p_name and j.status in ('queued', 'running')
        limit p_max_running) c),
    p_starts - (
      select count(*) from qwf.limit_keys s cross join lateral unnest(s.starts) u
      where p_starts is not null and s.name = p_name and u > p_now - p_per))::int
$$;

commit;
