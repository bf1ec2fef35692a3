-- Deploy qwf:functions/walks/_pick_above
-- Purpose: Picks jobs in claim order from a floor on, and those that can have been added below it.
-- Guarantees: Walks along jobs_claim in parts: jobs with run_next; priorities before the first one
--   of the floor; then for each priority of the floor the jobs given back to the front (below
--   position 0), and the others from the floor on, with the priorities up to the next one of the
--   floor. The parts below the floor are nearly always empty, which a look without the filter shows
--   at a tenth of the cost. So it passes what was claimed since the floor was found.
-- Locks: queued jobs that nobody else has locked.
-- Called by: _pick_next.

begin;

create function _qwf.pick_above(
  p_bands _qwf.band[], p_queue text, p_worker qwf.workers, p_now timestamptz, p_count int,
  p_light_only boolean, p_picked bigint[])
returns _qwf.picked[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_band _qwf.band;
  v_beyond bigint;  -- the priority where a part ends
  v_jobs _qwf.picked[] := '{}';
begin
  for v_part in 0 .. 2 * cardinality(p_bands) + 1 loop
    v_band := p_bands[v_part / 2];  -- of parts 0 and 1: null
    if v_part > 0 and v_part % 2 = 0 then
      continue when not exists (
        select from qwf.jobs j
        where j.queue = p_queue and j.status = 'queued' and j.limit_by is null
          and not j.run_next and j.priority = v_band.priority and j.position < 0);
      v_jobs := v_jobs || array(  -- with =: a row comparison would not end the walk
        select (j.ctid, j.id, j.run_id, null, null,
          j.once or j.key_state = 'w' or j.expires_at is not null or j.begun is not null,
          null, null)::_qwf.picked
        from qwf.jobs j
        where j.queue = p_queue and j.status = 'queued' and j.limit_by is null
          and not j.run_next and j.priority = v_band.priority and j.position < 0
          and (j.light or not p_light_only) and j.id <> all (p_picked)
          and _qwf.fits(j, p_worker, p_now)
        order by j.position
        limit p_count - cardinality(v_jobs)
        for no key update skip locked);
    else
      v_beyond := case when v_part > 0 then p_bands[v_part / 2 + 1].priority end;
      continue when v_part < 2 and not exists (
        select from qwf.jobs j
        where j.queue = p_queue and j.status = 'queued' and j.limit_by is null
          and j.run_next = (v_part = 0) and j.priority < coalesce(v_beyond, 2147483648));
      v_jobs := v_jobs || array(
        select (j.ctid, j.id, j.run_id, null, null,
          j.once or j.key_state = 'w' or j.expires_at is not null or j.begun is not null,
          null, null)::_qwf.picked
        from qwf.jobs j
        where j.queue = p_queue and j.status = 'queued' and j.limit_by is null
          and j.run_next = (v_part = 0)
          and (j.priority, j.position) >= (
            coalesce(v_band.priority, -2147483648),
            coalesce(v_band.position, -9223372036854775808))
          and j.priority < coalesce(v_beyond, 2147483648)
          and (j.light or not p_light_only) and j.id <> all (p_picked)
          and _qwf.fits(j, p_worker, p_now)
        order by j.priority, j.position
        limit p_count - cardinality(v_jobs)
        for no key update skip locked);
    end if;
    exit when cardinality(v_jobs) = p_count;
  end loop;
  return v_jobs;
end $$;

commit;
