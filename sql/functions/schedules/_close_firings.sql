-- Deploy qwf:functions/schedules/_close_firings
-- Purpose: Writes how the jobs and runs of firings have ended, and tells of those that failed.
-- Guarantees: Looks at the next 1,000 open firings by id, and begins again after the last, so that
--   those that never end keep none waiting. The lock and the look are two statements: a retry that
--   commits before the lock is seen, and one that comes after it opens the firing again.
-- Locks: open firings that nobody has locked.
-- Called by: fire_schedule, prune, _fire_schedules.

begin;

create function _qwf.close_firings(p_max int default 1000) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
declare
  v_firings bigint[];
  v_closed int;
begin
  v_firings := array(
    select f.id from qwf.firings f
    where f.outcome = 'fired' and f.result is null
      and f.id > (select c.last_value from qwf.close_firing c)
    order by f.id
    limit p_max
    for no key update skip locked);
  perform setval('qwf.close_firing', coalesce(v_firings[p_max], 0));
  with closed as (
    update qwf.firings f set result = (e.it).result, ended_at = (e.it).ended_at
    from (
      select o.id, _qwf.firing_end(o) as it
      from qwf.firings o where o.id = any (v_firings)
      offset 0) e  -- offset: look once
    where f.id = e.id and (e.it).result is not null
    returning f
  )
  select count(*) into v_closed
  from closed c
  cross join lateral (
    select _qwf.tell_schedule(c.f, 'schedule_failed')
    where (c.f).result = 'failed' and (c.f).backfill_of is null
    union all
    select null where (c.f).result is distinct from 'failed' or (c.f).backfill_of is not null
    offset 0) t (event)
  where coalesce(t.event, 0) >= 0;  -- what is not read is not told
  return v_closed;
end $$;

commit;
