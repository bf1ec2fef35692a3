-- Deploy qwf:functions/claim/_pick_limited
-- Purpose: Picks jobs for locked permits, in claim order within each limit.
-- Guarantees: Walks along jobs_claim_lane.
-- Locks: queued jobs that nobody else has locked.
-- Called by: _pick, _lock_wanted_permits.

begin;

create function _qwf.pick_limited(
  p_queue text, p_worker qwf.workers, p_now timestamptz, p_light_only boolean,
  p_permits _qwf.permit[])
returns _qwf.picked[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_limit record;
  v_jobs _qwf.picked[] := '{}';
begin
  for v_limit in
    select p.limit_name as name, count(*) as permits from unnest(p_permits) p group by p.limit_name
  loop
    v_jobs := v_jobs || array(
      select (j.ctid, j.id, j.run_id, null, null,
        j.once or j.key_state = 'w' or j.expires_at is not null or j.begun is not null,
        null, null)::_qwf.picked
      from qwf.jobs j
      where j.queue = p_queue and j.status = 'queued' and j.limit_by = v_limit.name
        and j.limit_place is null
        and coalesce(j.limit_by, j.required_model) = v_limit.name
        and (j.light or not p_light_only) and _qwf.fits(j, p_worker, p_now)
      order by j.run_next desc, j.priority, j.position
      limit v_limit.permits
      for no key update skip locked);
  end loop;
  return v_jobs;
end $$;

commit;
