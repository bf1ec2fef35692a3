-- Deploy qwf:functions/lines/_read_cursor
-- Purpose: Returns the place where a claim goes on in a line. A new session begins anywhere.
-- Guarantees: Anyone may change the setting, so it decides nothing but where a round begins. Never
--   raises.
-- Called by: _pick_keyed.

begin;

create function _qwf.read_cursor(p_name text) returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_value text := coalesce(current_setting(p_name, true), '');
begin
  if v_value ~ '^-?[0-9]{1,19}$' then
    return greatest(-9223372036854775807, least(9223372036854775806, v_value::numeric))::bigint;
  end if;
  return hashtextextended(random()::text, 0);
end $$;

commit;
