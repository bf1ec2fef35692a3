-- Deploy qwf:functions/claim/_lock_limit_slots
-- Purpose: Takes the places that the limited jobs of a claim need, before the jobs are picked.
-- Guarantees: A place first, then the job: with one place the jobs of a limit run strictly in claim
--   order, however many claim at once. Where a rival has the place, or the job, it is looked for
--   again what would come instead.
-- Locks: free slots, those that nobody has locked; jobs, as _wanted_limit_slots and _pick_limited.
-- Called by: claim.

begin;

create function _qwf.lock_limit_slots(
  p_queue text, p_worker qwf.workers, p_now timestamptz, p_count int, p_light_only boolean)
returns qwf.limit_slots[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_places qwf.limit_slots[];
  v_slots qwf.limit_slots[];
  v_at_most jsonb := '{}';
  v_short boolean;
  v_want record;
begin
  loop  -- ends: each round that is short says of one more limit how much there is
    v_places := '{}';
    v_short := false;
    for v_want in
      select w.limit_name, w.wanted
      from _qwf.wanted_limit_slots(p_queue, p_worker, p_now, p_count, p_light_only, v_at_most) w
    loop
      v_slots := _qwf.lock_free_slots(v_want.limit_name, v_want.wanted);
      v_slots := v_slots[1 : cardinality(
        _qwf.pick_limited(p_queue, p_worker, p_now, p_light_only, v_slots))];
      v_places := v_places || v_slots;
      if cardinality(v_slots) < v_want.wanted then
        v_short := true;
        v_at_most := v_at_most || jsonb_build_object(v_want.limit_name, cardinality(v_slots));
      end if;
    end loop;
    exit when not v_short;
  end loop;
  return v_places;
end $$;

commit;
