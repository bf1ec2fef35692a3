-- Deploy qwf:functions/hints/_read_hints
-- Purpose: Returns the hints that this session keeps in a setting.
-- Guarantees: Only what _write_hints wrote counts: anyone may change the setting, and behind a pool
--   one client changes it for the others. So the value begins with a hash of itself and a secret
--   that no role can read. Anything else is an empty object; never raises.
-- Called by: _read_floor, _rest_when_idle, _store_floor, _wake_another.

begin;

create function _qwf.read_hints(p_setting text) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_value text := coalesce(current_setting(p_setting, true), '');
begin
  if v_value <> '' and starts_with(v_value, _qwf.signature(p_setting || substr(v_value, 65))) then
    return substr(v_value, 65)::jsonb;
  end if;
  return '{}';
end $$;

commit;
