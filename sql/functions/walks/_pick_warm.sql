-- Deploy qwf:functions/walks/_pick_warm
-- Purpose: Picks jobs for a worker with a loaded model: first those with run_next, then those that
--   need the model.
-- Guarantees: Walks along jobs_claim, over the jobs with run_next only, and along jobs_claim_lane.
-- Locks: queued jobs that nobody else has locked.
-- Called by: _pick.

begin;

create function _qwf.pick_warm(
  p_queue text, p_worker qwf.workers, p_now timestamptz, p_count int)
returns _qwf.picked[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_run_next _qwf.picked[];
  v_jobs _qwf.picked[];
begin
  v_run_next := array(
    select (j.ctid, j.id, j.run_id, null, null,
      j.once or j.key_state = 'w' or j.expires_at is not null or j.begun is not null,
      null, null)::_qwf.picked
    from qwf.jobs j
    where j.queue = p_queue and j.status = 'queued' and j.limit_by is null and j.run_next
      and _qwf.fits(j, p_worker, p_now)
    order by j.priority, j.position
    limit p_count
    for no key update skip locked);
  v_jobs := array(
    select (j.ctid, j.id, j.run_id, null, null,
      j.once or j.key_state = 'w' or j.expires_at is not null or j.begun is not null,
      null, null)::_qwf.picked
    from qwf.jobs j
    where j.queue = p_queue and j.status = 'queued' and j.limit_by is null and not j.run_next
      and j.required_model = p_worker.current_model
      and coalesce(j.limit_by, j.required_model) = p_worker.current_model
      and _qwf.fits(j, p_worker, p_now)
    order by j.limit_by, j.priority, j.position
    limit p_count - cardinality(v_run_next)
    for no key update skip locked);
  return v_run_next || v_jobs;
end $$;

commit;
