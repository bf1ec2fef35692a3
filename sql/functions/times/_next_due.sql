-- Deploy qwf:functions/times/_next_due
-- Purpose: Returns when a schedule is next due after a given instant, or null at the end of a
--   backfill.
-- Called by: _fire_due.

begin;

create function _qwf.next_due(p_schedule qwf.schedules, p_after timestamptz) returns timestamptz
language sql stable
as $$
  select n.at
  from (select _qwf.next_fire(p_schedule, p_after)) n (at)
  where p_schedule.ends_at is null or n.at < p_schedule.ends_at
$$;

commit;
