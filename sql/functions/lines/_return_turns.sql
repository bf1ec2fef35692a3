-- Deploy qwf:functions/lines/_return_turns
-- Purpose: Gives the keys at the end of a claim their turn back, if it has picked their jobs and
--   left them out: jobs without a key took their places, or too few could start.
-- Guarantees: The next claim begins with the first such key after the last one that was served.
--   Else the same key could come last in each claim, and be left out. Nothing if another claim has
--   moved the turn meanwhile.
-- Called by: _pick_special.

begin;

create function _qwf.return_turns(
  p_queue text, p_worker qwf.workers, p_now timestamptz, p_light_only boolean,
  p_keyed _qwf.picked[], p_jobs _qwf.picked[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_owner bigint := _qwf.turn_owner(p_queue, p_worker, p_light_only, p_now);
  v_turn _qwf.turn := _qwf.read_turn(v_owner, _qwf.turn_slot(v_owner));
  v_places bigint[];
  v_served int;
  v_back bigint;
begin
  select array_agg(j.limit_place order by k.nth),
    coalesce(max(k.nth) filter (where k.id in (select p.id from unnest(p_jobs) p)), 0)
    into v_places, v_served
  from unnest(p_keyed) with ordinality k ("row", id, run_id, inputs, error, rare, out_dir, at, nth)
  join qwf.jobs j on j.id = k.id;
  v_back := greatest(v_places[v_served + 1], -9223372036854775807) - 1;
  if v_back is null then
    return;
  elsif v_turn.own is not null then
    perform set_config('qwf.turn_' || (v_owner >> 32), v_back::text, false);
  elsif v_turn.shared = any (v_places) then
    perform setval(('_qwf.turn_place_' || v_turn.slot)::regclass, v_back);
  end if;
end $$;

commit;
