-- Deploy qwf:functions/lines/_store_turn
-- Purpose: Keeps how far a claim has come in a line, for the next claim.
-- Guarantees: Only in this session, if no sequence is free, or if the claim has passed a key that
--   waits for another host: it would lead the workers of that host past their keys. Else for all
--   sessions, unless a claim that ran meanwhile has come further. Two that write at the same moment
--   may miss that, which costs a turn. A claim that is rolled back has moved the place; its keys
--   have their turn in the next round. One expression without a pinned search_path, as _turn_owner.
-- Called by: _pick_keyed, _walk_line.

begin;

create function _qwf.store_turn(p_turn _qwf.turn, p_last bigint, p_private boolean) returns text
language sql volatile
as $$
  select case
    when p_private or p_turn.slot is null
      then set_config(p_turn.setting, p_last::text, false)
    else concat(
      case when current_setting(p_turn.setting, true) <> ''
        then set_config(p_turn.setting, '', false) end,
      case when coalesce((p_last <= p_turn.shared, p_last) > (
          pg_sequence_last_value(('_qwf.turn_place_' || p_turn.slot)::regclass) < p_turn.shared,
          pg_sequence_last_value(('_qwf.turn_place_' || p_turn.slot)::regclass)), true)
        then setval(('_qwf.turn_place_' || p_turn.slot)::regclass, p_last) end)
    end
$$;

commit;
