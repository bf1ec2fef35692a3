-- Deploy qwf:functions/lines/_read_turn
-- Purpose: Returns where a claim goes on in a line: after the key that was served last.
-- Guarantees: If this session keeps a place of its own, that counts: see _store_turn. Anyone may
--   change the setting, so it decides nothing but where a round begins. Never raises. One
--   expression without a pinned search_path, as _turn_owner.
-- Called by: _pick_keyed.

begin;

create function _qwf.read_turn(p_setting text, p_slot int) returns _qwf.turn
language sql volatile
as $$
  select (p_setting, p_slot,
    pg_sequence_last_value(('_qwf.turn_place_' || p_slot)::regclass),
    case when current_setting(p_setting, true) ~ '^-?[0-9]{1,19}$'
      then greatest(-9223372036854775807, least(9223372036854775806,
        current_setting(p_setting, true)::numeric))::bigint
      else coalesce(pg_sequence_last_value(('_qwf.turn_place_' || p_slot)::regclass),
        hashtextextended(random()::text, 0)) end)::_qwf.turn
$$;

commit;
