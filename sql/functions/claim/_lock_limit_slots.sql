-- Deploy qwf:functions/claim/_lock_limit_slots
-- Purpose: Locks the slots that the limited jobs of a claim need, before the jobs are picked.
-- Guarantees: Locks the slot first, then the job: with one slot, the jobs of a limit run strictly
--   in claim order, however many workers claim at once. If a rival holds the slot or the job, plans
--   again without it.
-- Locks: free slots that nobody else has locked; jobs, as _wanted_limit_slots and _pick_limited do.
-- Called by: claim.

begin;

create function _qwf.lock_limit_slots(
  p_queue text, p_worker qwf.workers, p_now timestamptz, p_count int, p_light_only boolean)
returns qwf.limit_slots[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_locked qwf.limit_slots[];
  v_slots qwf.limit_slots[];
  v_at_most jsonb := '{}';
  v_short boolean;
  v_wanted record;
begin
  loop  -- ends: each short round lowers the maximum of at least one limit
    v_locked := '{}';
    v_short := false;
    for v_wanted in
      select w.limit_name, w.wanted
      from _qwf.wanted_limit_slots(p_queue, p_worker, p_now, p_count, p_light_only, v_at_most) w
    loop
      v_slots := _qwf.lock_free_slots(v_wanted.limit_name, v_wanted.wanted);
      v_slots := v_slots[1 : cardinality(
        _qwf.pick_limited(p_queue, p_worker, p_now, p_light_only, v_slots))];
      v_locked := v_locked || v_slots;
      if cardinality(v_slots) < v_wanted.wanted then
        v_short := true;
        v_at_most := v_at_most || jsonb_build_object(v_wanted.limit_name, cardinality(v_slots));
      end if;
    end loop;
    exit when not v_short;
  end loop;
  return v_locked;
end $$;

commit;
