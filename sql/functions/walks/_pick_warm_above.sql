-- Deploy qwf:functions/walks/_pick_warm_above
-- Purpose: Picks jobs that need the model of a worker from a floor on, and those that can have been
--   added below it.
-- Guarantees: Walks along jobs_claim_lane in the parts of _pick_above, without run_next.
-- Locks: queued jobs that nobody else has locked.
-- Called by: _pick_warm.

begin;

create function _qwf.pick_warm_above(
  p_bands _qwf.band[], p_queue text, p_worker qwf.workers, p_now timestamptz, p_count int)
returns _qwf.picked[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_band _qwf.band;
  v_jobs _qwf.picked[] := '{}';
begin
  for v_part in 1 .. 2 * cardinality(p_bands) + 1 loop
    exit when cardinality(v_jobs) = p_count;
    v_band := p_bands[v_part / 2];  -- of part 1: null
    if v_part % 2 = 0 then
      v_jobs := v_jobs || array(  -- with =: a row comparison would not end the walk
        select (j.ctid, j.id, j.run_id, null, null,
          j.once or j.key_state = 'w' or j.expires_at is not null or j.begun is not null,
          null, null)::_qwf.picked
        from qwf.jobs j
        where j.queue = p_queue and j.status = 'queued' and j.limit_by is null and not j.run_next
          and j.required_model = p_worker.current_model
          and coalesce(j.limit_by, j.required_model) = p_worker.current_model
          and j.priority = v_band.priority and j.position < 0 and _qwf.fits(j, p_worker, p_now)
        order by j.limit_by, j.position
        limit p_count - cardinality(v_jobs)
        for no key update skip locked);
    else
      v_jobs := v_jobs || array(
        select (j.ctid, j.id, j.run_id, null, null,
          j.once or j.key_state = 'w' or j.expires_at is not null or j.begun is not null,
          null, null)::_qwf.picked
        from qwf.jobs j
        where j.queue = p_queue and j.status = 'queued' and j.limit_by is null and not j.run_next
          and j.required_model = p_worker.current_model
          and coalesce(j.limit_by, j.required_model) = p_worker.current_model
          and (j.priority, j.position) >= (
            coalesce(v_band.priority, -2147483648),
            coalesce(v_band.position, -9223372036854775808))
          and j.priority < coalesce(p_bands[v_part / 2 + 1].priority, 2147483648)
          and _qwf.fits(j, p_worker, p_now)
        order by j.limit_by, j.priority, j.position
        limit p_count - cardinality(v_jobs)
        for no key update skip locked);
    end if;
  end loop;
  return v_jobs;
end $$;

commit;
