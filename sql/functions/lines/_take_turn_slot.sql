-- Deploy qwf:functions/lines/_take_turn_slot
-- Purpose: Finds the sequence that keeps the turns of an owner, or takes a free one, and notes the
--   minute. Null: none is free.
-- Guarantees: Free is what nobody has asked for in an hour. If two take the same one at once, the
--   second keeps it, and the first finds another at its next claim. Never raises.
-- Called by: _turn_slot.

begin;

create function _qwf.take_turn_slot(p_owner bigint) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_minute bigint := p_owner & 4294967295;
  v_number int;
  v_slot int;
  v_kept bigint;
begin
  for v_nth in 0..15 loop
    v_number := (p_owner >> 32) + v_nth & 15;
    v_kept := pg_sequence_last_value(('_qwf.turn_owner_' || v_number)::regclass);
    if v_kept >> 32 = p_owner >> 32 then
      v_slot := v_number;
      exit;
    elsif v_slot is null and coalesce(abs(v_minute - (v_kept & 4294967295)) > 60, true) then
      v_slot := v_number;
    end if;
  end loop;
  if v_slot is not null and v_kept is distinct from p_owner then
    perform setval(('_qwf.turn_owner_' || v_slot)::regclass, p_owner);
  end if;
  return v_slot;
end $$;

commit;
