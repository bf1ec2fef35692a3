-- Deploy qwf:functions/search/_search_runs
-- Purpose: Walks backward over the ids and returns the newest runs that pass a filter.
-- Guarantees: Reads at most p_look_back runs, whatever the statistics say, with the settings of
--   find_runs. First reads the newest p_look_back ids, which belong to that many runs at most.
--   Unless these hold enough, finds how far p_look_back runs reach, and reads the rest.
-- Called by: find_runs.

begin;

create function _qwf.search_runs(
  p_filter _qwf.run_filter, p_below bigint, p_look_back int, p_rows int)
returns _qwf.found
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_top bigint := (
    select r.id + 1 from qwf.runs r where r.id < p_below order by r.id desc limit 1);
  v_found _qwf.found;
begin
  v_found.ids := array(
    select r.id from qwf.runs r
    where r.id < v_top and r.id >= v_top - p_look_back and _qwf.run_matches(r, p_filter)
    order by r.id desc limit p_rows);
  if cardinality(v_found.ids) = p_rows then
    v_found.searched_to := v_found.ids[p_rows];
    return v_found;
  end if;
  v_found.searched_to := (  -- null: there are not that many
    select r.id from qwf.runs r
    where r.id < v_top order by r.id desc offset p_look_back - 1 limit 1);
  if v_found.searched_to = v_top - p_look_back then
    return v_found;
  end if;
  v_found.ids := v_found.ids || array(
    select r.id from qwf.runs r
    where r.id < v_top - p_look_back and r.id >= coalesce(v_found.searched_to, r.id)
      and _qwf.run_matches(r, p_filter)
    order by r.id desc limit p_rows - cardinality(v_found.ids));
  if cardinality(v_found.ids) = p_rows then
    v_found.searched_to := v_found.ids[p_rows];
  end if;
  return v_found;
end $$;

commit;
