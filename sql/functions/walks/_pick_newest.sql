-- Deploy qwf:functions/walks/_pick_newest
-- Purpose: Picks jobs for an overflow worker, the newest of a band first, so that it leaves the
--   oldest to the others.
-- Guarantees: Walks backwards along jobs_claim, one band after another (first run_next, then each
--   priority). After 32 bands it picks the rest in claim order, so that the cost is bounded.
-- Locks: queued jobs that nobody else has locked.
-- Called by: _pick, _wanted_permits.

begin;

create function _qwf.pick_newest(
  p_queue text, p_worker qwf.workers, p_now timestamptz, p_count int, p_picked bigint[])
returns _qwf.picked[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_jobs _qwf.picked[] := '{}';
  v_run_next boolean := true;
  v_priority bigint := -2147483648;  -- no job with a lower number is left
begin
  for v_step in 1 .. 32 loop
    select j.priority into v_priority
    from qwf.jobs j
    where j.queue = p_queue and j.status = 'queued' and j.limit_by is null
      and j.run_next = v_run_next and j.priority >= v_priority
    order by j.priority
    limit 1;
    if not found then
      exit when not v_run_next;
      v_run_next := false;
      v_priority := -2147483648;
      continue;
    end if;
    v_jobs := v_jobs || array(
      select (j.ctid, j.id, j.run_id, null, null,
        j.once or j.key_state = 'w' or j.expires_at is not null or j.begun is not null,
        null, null)::_qwf.picked
      from qwf.jobs j
      where j.queue = p_queue and j.status = 'queued' and j.limit_by is null
        and j.run_next = v_run_next and j.priority = v_priority
        and j.id <> all (p_picked) and _qwf.fits(j, p_worker, p_now)
      order by j.position desc
      limit p_count - cardinality(v_jobs)
      for no key update skip locked);
    if cardinality(v_jobs) = p_count then
      return v_jobs;
    end if;
    v_priority := v_priority + 1;
  end loop;
  return v_jobs || _qwf.pick_next(
    p_queue, p_worker, p_now, p_count - cardinality(v_jobs), false,
    p_picked || array(select p.id from unnest(v_jobs) p));
end $$;

commit;
