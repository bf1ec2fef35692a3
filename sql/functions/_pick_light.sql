-- Deploy qwf:functions/_pick_light
-- Purpose: Picks light jobs in claim order, for a worker whose card is taken.
-- Guarantees: One walk along jobs_claim_light, past no heavy job.
-- Locks: queued jobs, those that are free.
-- Called by: _pick, _wanted_places.

begin;

create function qwf._pick_light(
  p_queue text, p_worker qwf.workers, p_now timestamptz, p_count int)
returns qwf.picked[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select (j.ctid, j.id, j.run_id, null, null)::qwf.picked
    from qwf.jobs j
    where j.queue = p_queue and j.status = 'queued' and j.limit_by is null and j.light
      and qwf._fits(j, p_worker, p_now)
    order by j.run_next desc, j.priority, j.position
    limit p_count
    for no key update skip locked);
end $$;
revoke all on function qwf._pick_light from public;

commit;
