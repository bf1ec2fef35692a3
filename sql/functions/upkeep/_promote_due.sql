-- Deploy qwf:functions/upkeep/_promote_due
-- Purpose: Queues scheduled jobs whose time has come.
-- Guarantees: In the order of run_at. A guarded node goes back to blocked, with an event that opens
--   it, because its skip_if and its question are evaluated under its run's lock.
-- Locks: due jobs that nobody else has locked.
-- Notifies: sleepers of the queues.
-- Called by: _tick_part.

begin;

create function _qwf.promote_due(p_max_jobs int default 1000) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_material = off
set enable_bitmapscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_now timestamptz := qwf.now();
  v_count int;
begin
  with due as materialized (
    select j.id, j.run_at from qwf.jobs j
    where j.status = 'scheduled' and j.finished_at is null and j.run_at <= v_now
    order by j.finished_at, j.run_at  -- as jobs_due_or_failed has them
    limit p_max_jobs
    for no key update skip locked
  ), placed as materialized (
    select d.id, _qwf.next_position() as position
    from (select s.id from due s order by s.run_at, s.id) d
  ), promoted as (
    update qwf.jobs j set
      status = case when j.guarded and j.attempt = 0
        then 'blocked' else 'queued' end::qwf.job_status,
      position = p.position, queued_at = v_now
    from placed p
    where j.id = p.id
    returning j.id, j.run_id, j.queue, j.status
  ), event as (
    insert into qwf.outbox (run_id, job_id, kind)
    select p.run_id, p.id, 'ready' from promoted p where p.status = 'blocked'
  ), woken as (
    select _qwf.wake(p.queue, count(*)::int) from promoted p
    where p.status = 'queued'
    group by p.queue
  )
  select count(*) into v_count
  from promoted
  where (select count(*) from woken) >= 0;  -- a CTE that is not read does not run
  return v_count;
end $$;

commit;
