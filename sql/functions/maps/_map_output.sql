-- Deploy qwf:functions/maps/_map_output
-- Purpose: Returns the outputs of the elements of a map as one list.
-- Guarantees: In the order of the list; null for an element that failed or was skipped. Bounded,
--   because a reader of the list loads all of it.
-- Called by: _map_verdict.

begin;

create function _qwf.map_output(p_map bigint) returns _qwf.resolution
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_output _qwf.resolution;
  v_max bigint := (select s.max_value_bytes * 16::bigint from qwf.settings s);
  v_size bigint;
begin
  select coalesce(sum(octet_length(j.output::text)), 0) into v_size
  from qwf.jobs j where j.parent_id = p_map;
  if v_size > v_max then
    v_output.error := format('QW005: the outputs of the elements have %s bytes together, at most '
      '%s fit: write files and return their paths', v_size, v_max);
  else
    select coalesce(jsonb_agg(j.output order by j.element), '[]') into v_output.value
    from qwf.jobs j where j.parent_id = p_map;
  end if;
  return v_output;
end $$;

commit;
