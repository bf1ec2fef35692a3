-- Deploy qwf:functions/claim/_pick_above
-- Purpose: Picks jobs in claim order from a floor on, and those that can have been added below it.
-- Guarantees: Walks along jobs_claim in four parts. Three kinds of jobs can have been added below
--   the floor: those with run_next, those with a lower priority number, and those given back to the
--   front (below position 0). In these parts a walk passes no more entries than there were such
--   jobs.
-- Locks: queued jobs that nobody else has locked.
-- Called by: _pick_next.

begin;

create function _qwf.pick_above(
  p_floor _qwf.floor, p_queue text, p_worker qwf.workers, p_now timestamptz, p_count int,
  p_picked bigint[])
returns _qwf.picked[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_part record;
  v_jobs _qwf.picked[] := '{}';
begin
  for v_part in
    select * from (values
      (1, true, -2147483648, -9223372036854775808, 2147483647),
      (2, false, -2147483648, -9223372036854775808, p_floor.priority::bigint - 1),
      (3, false, p_floor.priority, null, p_floor.priority),
      (4, false, p_floor.priority, p_floor.position, 2147483647)
    ) part (nth, run_next, priority, "position", up_to)
    order by part.nth
  loop
    if v_part.position is null then  -- with =: a row comparison would not end the walk
      v_jobs := v_jobs || array(
        select (j.ctid, j.id, j.run_id, null, null)::_qwf.picked
        from qwf.jobs j
        where j.queue = p_queue and j.status = 'queued' and j.limit_by is null
          and not j.run_next and j.priority = p_floor.priority and j.position < 0
          and j.id <> all (p_picked) and _qwf.fits(j, p_worker, p_now)
        order by j.position
        limit p_count - cardinality(v_jobs)
        for no key update skip locked);
    else
      v_jobs := v_jobs || array(
        select (j.ctid, j.id, j.run_id, null, null)::_qwf.picked
        from qwf.jobs j
        where j.queue = p_queue and j.status = 'queued' and j.limit_by is null
          and j.run_next = v_part.run_next
          and (j.priority, j.position) >= (v_part.priority, v_part.position)
          and j.priority <= v_part.up_to
          and j.id <> all (p_picked) and _qwf.fits(j, p_worker, p_now)
        order by j.priority, j.position
        limit p_count - cardinality(v_jobs)
        for no key update skip locked);
    end if;
    exit when cardinality(v_jobs) = p_count;
  end loop;
  return v_jobs;
end $$;

commit;
