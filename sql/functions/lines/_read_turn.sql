-- Deploy qwf:functions/lines/_read_turn
-- Purpose: Returns where a claim goes on in a line: after the key that was served last.
-- Guarantees: If this session keeps a place of its own, that counts: see _store_turn. One
--   expression without a pinned search_path, as _turn_owner.
-- Called by: _pick_keyed.

begin;

create function _qwf.read_turn(p_owner bigint, p_slot int) returns _qwf.turn
language sql volatile
as $$
  select (p_owner, p_slot, pg_sequence_last_value(('_qwf.turn_place_' || p_slot)::regclass),
    case when p_slot is null or current_setting('qwf.turn_' || (p_owner >> 32), true) <> ''
      then _qwf.own_turn(p_owner) end)::_qwf.turn
$$;

commit;
