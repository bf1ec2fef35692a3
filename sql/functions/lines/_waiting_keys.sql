-- Deploy qwf:functions/lines/_waiting_keys
-- Purpose: Returns how many keys with room wait in the band of the first of some picked jobs, 10 at
--   most.
-- Guarantees: Locks nothing, and looks at 100 keys at most.
-- Called by: _pick.

begin;

create function _qwf.waiting_keys(
  p_queue text, p_worker qwf.workers, p_now timestamptz, p_light_only boolean,
  p_keyed _qwf.picked[])
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_round _qwf.round := (
    p_queue, p_worker, p_now, p_light_only, null, null, 100, '{}', '{}', null, 0, null, false);
  v_first record;
begin
  if cardinality(p_keyed) >= 10 then
    return 10;
  end if;
  select _qwf.band_of(j) as band, j.limit_place as place into v_first
  from qwf.jobs j where j.ctid = p_keyed[1].row;
  return cardinality((_qwf.next_keys(
    v_round, v_first.band, -9223372036854775808, 9223372036854775807, 10)).keys);
end $$;

commit;
