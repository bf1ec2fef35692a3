-- Deploy qwf:functions/claim/_pick_special
-- Purpose: Picks the jobs of a claim that needs more than the ordinary walk: limits, placement
--   pack, light jobs only, a loaded model, an overflow worker, a queue with a floor.
-- Guarantees: Locks the permits of limits before the jobs. jobs is empty if the claim leaves the
--   queue to a better worker, or if all its slots are taken; then room is 0. At most p_startable
--   (null: 1) of the jobs have a limit with a rate.
-- Locks: starts and free slots of limits, keys, queued jobs; skips those that somebody else has
--   locked.
-- Notifies: the better worker.
-- Called by: _serve_runs, claim.

begin;

create function _qwf.pick_special(
  p_queue text, p_terms _qwf.claim_terms, p_now timestamptz, p_count int, p_light_only boolean,
  p_startable int)
returns _qwf.special_pick
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_pick _qwf.special_pick := ('{}', '{}', p_count, '{}', false, false, null);
  v_worker qwf.workers := p_terms.worker;
  v_permits _qwf.permit[] := '{}';
  v_startable int := coalesce(p_startable, 1);
  v_rates boolean;  -- some of the jobs may have a limit with a rate
begin
  if p_terms.packed and _qwf.yields(p_queue, v_worker, p_now) then
    v_pick.room := 0;
    return v_pick;
  end if;
  if p_terms.max_running is not null then
    v_pick.permits := _qwf.lock_permits('queue:' || p_queue, p_now, p_count);
    v_pick.room := cardinality(v_pick.permits);
    if v_pick.room = 0 then
      return v_pick;
    end if;
  end if;
  if p_terms.limited then
    v_permits := _qwf.lock_wanted_permits(
      p_queue, v_worker, p_now, v_pick.room, p_light_only, v_startable);
  end if;
  if p_terms.keyed is not true or p_terms.crowded or v_permits <> '{}' or exists (
    select from qwf.jobs j
    where j.queue = p_queue and j.status = 'queued' and j.limit_by is null)
  then
    v_pick := _qwf.pick(v_pick, p_queue, v_worker, p_now, p_light_only, v_permits);
    v_pick.permits := v_pick.permits || v_permits;
  end if;
  v_rates := exists (select from unnest(v_permits) p where p.start is not null)
    or p_terms.keyed and exists (select from qwf.limits l where l.keyed and l.starts is not null);
  if p_terms.keyed then
    v_pick.jobs := _qwf.pick_keyed(p_queue, v_worker, p_now, v_pick.room, p_light_only,
      case when v_rates then v_startable end, v_pick.jobs, v_pick.model);
  end if;
  if v_rates then
    v_pick.rated := array(
      select p.id from unnest(v_pick.jobs) p
      where exists (
        select from qwf.jobs j
        join qwf.limits l on l.starts is not null
          and l.name = case when j.limit_place is null then j.limit_by
            else split_part(j.limit_by, ':', 1) end
        where j.id = p.id));
    v_pick.capped := v_pick.rated <> '{}' and cardinality(v_pick.rated) = v_startable;
  end if;
  v_pick.limited := v_pick.rated <> '{}' or v_pick.permits <> '{}';
  return v_pick;
end $$;

commit;
