-- Deploy qwf:functions/walks/_read_floor
-- Purpose: Returns the floor that this session keeps under a name; null: none.
-- Called by: _keep_floor, _usable_floor.

begin;

create function _qwf.read_floor(p_key text) returns _qwf.floor
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_populate_record(null::_qwf.floor, _qwf.read_hints('qwf.floors') -> p_key);
end $$;

commit;
