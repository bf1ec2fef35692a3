-- Deploy qwf:functions/walks/_pick_next
-- Purpose: Picks jobs in claim order: run_next, priority, first in, first out.
-- Guarantees: One walk along jobs_claim, with the settings of claim, whatever the statistics say.
--   Passes over the jobs that this claim has picked before: skip locked does not skip its own
--   locks. If the session keeps a floor (see _keep_floor), the walk starts there.
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
  v_floor _qwf.floor;
  v_jobs _qwf.picked[];
  v_walked bigint;
begin
  v_floor := _qwf.usable_floor(p_queue, p_worker);
  if v_floor.until is not null then
    return _qwf.pick_above(v_floor, p_queue, p_worker, p_now, p_count, p_light_only, p_picked);
  end if;
  v_walked := _qwf.index_entries_walked('qwf.jobs_claim');
  v_jobs := array(
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
  if _qwf.index_entries_walked('qwf.jobs_claim') - v_walked > 1000 + cardinality(v_jobs) then
    perform _qwf.keep_floor(p_queue, p_worker);
  end if;
  return v_jobs;
end $$;

commit;
