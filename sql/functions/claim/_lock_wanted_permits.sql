-- Deploy qwf:functions/claim/_lock_wanted_permits
-- Purpose: Locks the permits that the limited jobs of a claim need, before the jobs are picked.
-- Guarantees: Locks the permit first, then the job: with one slot, the jobs of a limit run strictly
--   in claim order, however many workers claim at once. If a rival holds the permit or the job,
--   plans again without it. At most p_startable of the permits are of limits with a rate.
-- Locks: starts and free slots that nobody else has locked; jobs, as _wanted_permits and
--   _pick_limited do.
-- Called by: _pick_special.

begin;

create function _qwf.lock_wanted_permits(
  p_queue text, p_worker qwf.workers, p_now timestamptz, p_count int, p_light_only boolean,
  p_startable int)
returns _qwf.permit[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_locked _qwf.permit[];
  v_permits _qwf.permit[];
  v_at_most jsonb := '{}';
  v_short boolean;
  v_wanted record;
begin
  loop  -- ends: each short round lowers the maximum of at least one limit
    v_locked := '{}';
    v_short := false;
    for v_wanted in
      select w.limit_name, w.wanted
      from _qwf.wanted_permits(
        p_queue, p_worker, p_now, p_count, p_light_only, p_startable, v_at_most) w
    loop
      v_permits := _qwf.lock_permits(v_wanted.limit_name, p_now, v_wanted.wanted);
      v_permits := v_permits[1 : cardinality(
        _qwf.pick_limited(p_queue, p_worker, p_now, p_light_only, v_permits))];
      v_locked := v_locked || v_permits;
      if cardinality(v_permits) < v_wanted.wanted then
        v_short := true;
        v_at_most := v_at_most || jsonb_build_object(v_wanted.limit_name, cardinality(v_permits));
      end if;
    end loop;
    exit when not v_short;
  end loop;
  return v_locked;
end $$;

commit;
