-- Deploy qwf:functions/lines/_own_turn
-- Purpose: Returns the place in a line that a session keeps for itself; anywhere if it keeps none.
-- Guarantees: Anyone may change the setting, so it decides nothing but where a round begins. Never
--   raises.
-- Called by: _read_turn.

begin;

create function _qwf.own_turn(p_owner bigint) returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_kept text := current_setting('qwf.turn_' || (p_owner >> 32), true);
begin
  if v_kept ~ '^-?[0-9]{1,19}$' then
    return greatest(-9223372036854775807, least(9223372036854775806, v_kept::numeric));
  end if;
  return hashtextextended(random()::text, 0);
end $$;

commit;
