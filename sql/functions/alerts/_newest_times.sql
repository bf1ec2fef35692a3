-- Deploy qwf:functions/alerts/_newest_times
-- Purpose: Returns which of these times count for an alert that is not open, and whether it opens:
--   when more than p_more_than of them are later than p_since.
-- Guarantees: Keeps as many as decide it, the newest.
-- Called by: _apply_changes.

begin;

create function _qwf.newest_times(p_times timestamptz[], p_since timestamptz, p_more_than int)
returns table (recent timestamptz[], opens boolean)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select n.recent, p_more_than = 0 or cardinality(n.recent) > p_more_than
  from (
    select case when p_more_than > 0 then array(
      select t from unnest(p_times) t
      where t > p_since order by t desc limit p_more_than + 1) end as recent) n
$$;

commit;
