-- Deploy qwf:functions/walks/_pick_next
-- Purpose: Picks jobs in claim order: run_next, priority, first in, first out.
-- Guarantees: One walk along jobs_claim, with the settings of claim, whatever the statistics say.
--   Passes over the jobs that this claim has picked before: skip locked does not skip its own
--   locks. If the queue has a floor (_find_floors), the walk starts there.
-- Locks: queued jobs that nobody else has locked.
-- Called by: _pick, _pick_newest, _wanted_permits.

begin;

create function _qwf.pick_next(
  p_queue text, p_worker qwf.workers, p_now timestamptz, p_count int, p_light_only boolean,
  p_picked bigint[])
returns _qwf.picked[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_floor _qwf.floors;
begin
  select f.* into v_floor from _qwf.floors f
  where f.queue = p_queue and f.found_at < p_now - interval '1 s' order by f.found_at desc limit 1;
  if v_floor.until > p_now then
    return _qwf.pick_above(v_floor.bands, p_queue, p_worker, p_now, p_count, p_light_only, p_picked);
  end if;
  return array(
    select (j.ctid, j.id, j.run_id, null, null,
      j.once or j.key_state = 'w' or j.expires_at is not null or j.begun is not null,
      null, null)::_qwf.picked
    from qwf.jobs j
    where j.queue = p_queue and j.status = 'queued' and j.limit_by is null
      and (j.light or not p_light_only) and j.id <> all (p_picked)
      and _qwf.fits(j, p_worker, p_now)
    order by j.run_next desc, j.priority, j.position
    limit p_count
    for no key update skip locked);
end $$;

commit;
