-- Deploy qwf:functions/search/_search_portion
-- Purpose: Walks backward over the ids and returns the newest jobs that pass a filter.
-- Guarantees: Reads at most p_look_back jobs, whatever the statistics say, with the settings of
--   find_jobs. First reads the newest p_look_back ids, which belong to that many jobs at most.
--   Unless these hold enough, finds how far p_look_back jobs reach, and reads the rest.
-- Called by: _search_jobs.

begin;

create function _qwf.search_portion(
  p_filter _qwf.job_filter, p_below bigint, p_look_back int, p_rows int)
returns _qwf.found
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_top bigint := (
    select j.id + 1 from qwf.jobs j where j.id < p_below order by j.id desc limit 1);
  v_found _qwf.found;
begin
  v_found.ids := array(
    select j.id from qwf.jobs j
    where j.id < v_top and j.id >= v_top - p_look_back and _qwf.job_matches(j, p_filter)
    order by j.id desc limit p_rows);
  if cardinality(v_found.ids) = p_rows then
    v_found.searched_to := v_found.ids[p_rows];
    return v_found;
  end if;
  v_found.searched_to := (  -- null: there are not that many
    select j.id from qwf.jobs j
    where j.id < v_top order by j.id desc offset p_look_back - 1 limit 1);
  if v_found.searched_to = v_top - p_look_back then
    return v_found;
  end if;
  v_found.ids := v_found.ids || array(
    select j.id from qwf.jobs j
    where j.id < v_top - p_look_back and j.id >= coalesce(v_found.searched_to, j.id)
      and _qwf.job_matches(j, p_filter)
    order by j.id desc limit p_rows - cardinality(v_found.ids));
  if cardinality(v_found.ids) = p_rows then
    v_found.searched_to := v_found.ids[p_rows];
  end if;
  return v_found;
end $$;

commit;
