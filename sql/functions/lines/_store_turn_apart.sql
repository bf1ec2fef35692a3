-- Deploy qwf:functions/lines/_store_turn_apart
-- Purpose: Keeps how far a claim has come in a line, in the cases that are not ordinary.
-- Guarantees: Only in this session, if no sequence is free, or if the claim has passed a key that
--   waits for another host: it would lead the workers of that host past their keys. Else for all
--   sessions, unless a claim that ran meanwhile has come further; and the session keeps no place of
--   its own any more.
-- Called by: _store_turn.

begin;

create function _qwf.store_turn_apart(p_turn _qwf.turn, p_last bigint, p_pinned boolean)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_setting text := 'qwf.turn_' || (p_turn.owner >> 32);
  v_place regclass := '_qwf.turn_place_' || p_turn.slot;
  v_shared bigint := pg_sequence_last_value(v_place);
begin
  if p_pinned or p_turn.slot is null then
    perform set_config(v_setting, p_last::text, false);
    return p_last;
  end if;
  perform set_config(v_setting, '', false);
  if coalesce((p_last <= p_turn.shared, p_last) > (v_shared < p_turn.shared, v_shared), true) then
    perform setval(v_place, p_last);
  end if;
  return p_last;
end $$;

commit;
