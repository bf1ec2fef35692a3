-- Deploy qwf:functions/walks/_pick_light
-- Purpose: Picks light jobs in claim order, for a worker whose GPU is in use.
-- Guarantees: One walk along jobs_claim_light, which holds no heavy job.
-- Locks: queued jobs that nobody else has locked.
-- Called by: _pick, _wanted_permits.

begin;

create function _qwf.pick_light(
  p_queue text, p_worker qwf.workers, p_now timestamptz, p_count int)
returns _qwf.picked[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select (j.ctid, j.id, j.run_id, null, null,
      j.once or j.key_state = 'w' or j.expires_at is not null or j.begun is not null,
      null, null)::_qwf.picked
    from qwf.jobs j
    where j.queue = p_queue and j.status = 'queued' and j.limit_by is null and j.light
      and _qwf.fits(j, p_worker, p_now)
    order by j.limit_by, j.run_next desc, j.priority, j.position
    limit p_count
    for no key update skip locked);
end $$;

commit;
