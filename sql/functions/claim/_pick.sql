-- Deploy qwf:functions/claim/_pick
-- Purpose: Picks the jobs of a claim.
-- Guarantees: Chooses the walks for this worker, and sorts what they found. Order: run_next; the
--   model that the worker has loaded, until the first job it could take has waited for
--   affinity_max_wait; priority; first in, first out (newest first for an overflow worker, whose
--   rank is negative). Only _pick_limited picks limited jobs, and _pick_keyed those of limits
--   that count by key, later.
-- Locks: queued jobs that nobody else has locked.
-- Called by: _pick_special.

begin;

create function _qwf.pick(
  p_pick _qwf.special_pick, p_queue text, p_worker qwf.workers, p_now timestamptz,
  p_light_only boolean, p_permits _qwf.permit[])
returns _qwf.special_pick
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_pick _qwf.special_pick := p_pick;
  v_limited _qwf.picked[] := '{}';
  v_jobs _qwf.picked[] := '{}';
  v_ids bigint[] := '{}';
  v_warm boolean := false;
begin
  if p_permits <> '{}' then
    v_limited := _qwf.pick_limited(p_queue, p_worker, p_now, p_light_only, p_permits);
  end if;
  if p_worker.current_model is not null and not p_light_only then
    v_warm := _qwf.head_waited(
      p_queue, p_worker, p_now, array(select p.id from unnest(v_limited) p))
      < (select s.affinity_max_wait from qwf.settings s);
  end if;
  if v_warm then
    v_pick.model := p_worker.current_model;
    v_jobs := _qwf.pick_warm(p_queue, p_worker, p_now, p_pick.room);
    v_ids := array(select p.id from unnest(v_jobs) p);
  end if;
  if cardinality(v_jobs) < p_pick.room then
    v_jobs := v_jobs || case
      when p_worker.rank < 0 and not p_light_only then _qwf.pick_newest(
        p_queue, p_worker, p_now, p_pick.room - cardinality(v_jobs), v_ids)
      else _qwf.pick_next(
        p_queue, p_worker, p_now, p_pick.room - cardinality(v_jobs), p_light_only, v_ids)
    end;
  end if;
  if v_limited <> '{}' then
    v_jobs := array(
      select p
      from unnest(v_limited || v_jobs) p
      cross join lateral (
        select j.run_next, j.required_model, j.priority, j.position
        from qwf.jobs j where j.id = p.id offset 0) j
      order by j.run_next desc,
        v_warm and j.required_model = p_worker.current_model desc nulls last,
        j.priority, case when p_worker.rank < 0 then -j.position else j.position end
      limit p_pick.room);
  end if;
  v_pick.jobs := v_jobs;
  return v_pick;
end $$;

commit;
