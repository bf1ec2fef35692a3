-- Deploy qwf:functions/lines/_turn_slot
-- Purpose: Returns the number of the sequence that keeps the turns of an owner; null: none is free.
-- Guarantees: As a rule the first that it looks at, asked for in this minute. One expression
--   without a pinned search_path, as _turn_owner.
-- Called by: _pick_keyed.

begin;

create function _qwf.turn_slot(p_owner bigint) returns int
language sql volatile
as $$
  select case when p_owner = pg_sequence_last_value(
      ('_qwf.turn_owner_' || (p_owner >> 32 & 15))::regclass)
    then (p_owner >> 32 & 15)::int else _qwf.take_turn_slot(p_owner) end
$$;

commit;
