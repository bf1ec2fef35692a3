-- Deploy qwf:functions/search/_run_after
-- Purpose: Returns an id above all runs made until a time.
-- Guarantees: Ids grow with time, except among those that calls of enqueue give out at the same
--   moment. So a search until a time begins a minute later. Halves the range of ids until it has
--   1,000, and reads at most 63 runs.
-- Called by: find_runs.

begin;

create function _qwf.run_after(p_until timestamptz) returns bigint
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_low bigint := (select min(r.id) from qwf.runs r);
  v_high bigint := (select max(r.id) + 1 from qwf.runs r);
  v_middle bigint;
begin
  while v_high - v_low > 1000 loop
    v_middle := v_low + (v_high - v_low) / 2;
    if (select r.created_at from qwf.runs r where r.id >= v_middle order by r.id limit 1)
        > p_until + interval '1 minute' then
      v_high := v_middle;
    else
      v_low := v_middle;
    end if;
  end loop;
  return v_high;
end $$;

commit;
