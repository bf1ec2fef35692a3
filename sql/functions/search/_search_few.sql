-- Deploy qwf:functions/search/_search_few
-- Purpose: Returns the newest of some jobs that pass a filter, and how far it looked.
-- Guarantees: Looks at 1,000 jobs at a time, and stops after those at which p_until passes. With
--   the settings of find_jobs.
-- Called by: find_jobs.

begin;

create function _qwf.search_few(
  p_filter _qwf.job_filter, p_few bigint[], p_below bigint, p_rows int, p_until timestamptz)
returns _qwf.found
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_few bigint[] := array(
    select f.id from unnest(p_few) f (id) where f.id < p_below order by f.id desc);
  v_last int := 1000;
  v_found _qwf.found := ('{}', null);
begin
  loop
    v_found.ids := v_found.ids || array(
      select few.id from unnest(v_few[v_last - 999 : v_last]) with ordinality few (id, place)
      where exists (  -- offset: else the planner may walk over all jobs to have them in order
        select from qwf.jobs j where j.id = few.id and _qwf.job_matches(j, p_filter) offset 0)
      limit p_rows - cardinality(v_found.ids));
    if cardinality(v_found.ids) = p_rows then
      v_found.searched_to := v_found.ids[p_rows];
      return v_found;
    end if;
    exit when v_last >= cardinality(v_few);
    if qwf.now() >= p_until then
      v_found.searched_to := v_few[v_last];
      return v_found;
    end if;
    v_last := v_last + 1000;
  end loop;
  return v_found;
end $$;

commit;
