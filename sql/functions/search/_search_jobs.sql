-- Deploy qwf:functions/search/_search_jobs
-- Purpose: Returns the newest jobs that pass a filter, and how far it looked.
-- Guarantees: Reads at most p_look_back jobs, in portions, and stops after the portion in which
--   p_until passes. The first portion is 1,000 jobs; each other one is as large as p_until leaves
--   time for if it is read as fast as the one before, from 1,000 to 5,000 jobs. With the settings
--   of find_jobs.
-- Called by: find_jobs.

begin;

create function _qwf.search_jobs(
  p_filter _qwf.job_filter, p_below bigint, p_look_back int, p_rows int, p_until timestamptz)
returns _qwf.found
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_left int := p_look_back;
  v_portion int := least(1000, p_look_back);
  v_began timestamptz;
  v_now timestamptz := qwf.now();
  v_more _qwf.found;
  v_found _qwf.found := ('{}', p_below);
begin
  while v_left > 0 loop
    v_began := v_now;
    v_more := _qwf.search_portion(
      p_filter, v_found.searched_to, v_portion, p_rows - cardinality(v_found.ids));
    v_found := (v_found.ids || v_more.ids, v_more.searched_to);
    v_now := qwf.now();
    exit when v_found.searched_to is null or cardinality(v_found.ids) = p_rows or v_now >= p_until;
    v_left := v_left - v_portion;
    v_portion := least(v_left, greatest(1000, least(5000, v_portion
      * extract(epoch from p_until - v_now)
      / greatest(extract(epoch from v_now - v_began), 0.000001))));
  end loop;
  return v_found;
end $$;

commit;
