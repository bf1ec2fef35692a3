-- Deploy qwf:functions/upkeep/_expire_jobs
-- Purpose: Cancels standalone jobs that were not started in time.
-- Guarantees: Only a job that was never claimed expires, and claim does not hand it out any more.
--   Bounded.
-- Locks: overdue jobs that nobody else has locked.
-- Called by: _tick_part.

begin;

create function _qwf.expire_jobs() returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_material = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_sort = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_count int;
begin
  with overdue as materialized (
    select j.id
    from qwf.waits w join qwf.jobs j on j.id = w.job_id
    where w.kind = 'deadline' and w.at <= v_now
      and j.expires_at <= v_now and j.status in ('scheduled', 'queued') and j.attempt = 0
    order by w.at
    limit 1000
    for no key update of j skip locked
  ), expired as (
    update qwf.jobs j set
      status = 'cancelled', finished_at = v_now,
      last_error = format('expired: not started by %s', j.expires_at)
    from overdue o
    where j.id = o.id
    returning j.id, j.expires_at
  ), over as (
    delete from qwf.waits w using overdue o where w.job_id = o.id
  ), event as (
    insert into _qwf.event_log (at, job_id, kind, detail)
    select v_now, e.id, 'expired', jsonb_build_object('expires_at', e.expires_at)
    from expired e
  )
  select count(*) into v_count from expired;
  return v_count;
end $$;

commit;
