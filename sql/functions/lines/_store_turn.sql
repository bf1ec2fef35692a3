-- Deploy qwf:functions/lines/_store_turn
-- Purpose: Keeps how far a claim has come in a line, for the next claim.
-- Guarantees: For all sessions, but see _store_turn_apart. A claim that writes at the same moment
--   may be overwritten, which costs a turn. A claim that is rolled back has moved the place; its
--   keys have their turn in the next round. One expression without a pinned search_path, as
--   _turn_owner.
-- Called by: _pick_keyed.

begin;

create function _qwf.store_turn(p_turn _qwf.turn, p_last bigint, p_pinned boolean) returns bigint
language sql volatile
as $$
  select case
    when p_pinned or p_turn.slot is null or p_turn.own is not null or p_turn.shared
      is distinct from pg_sequence_last_value(('_qwf.turn_place_' || p_turn.slot)::regclass)
      then _qwf.store_turn_apart(p_turn, p_last, p_pinned)
    else setval(('_qwf.turn_place_' || p_turn.slot)::regclass, p_last) end
$$;

commit;
