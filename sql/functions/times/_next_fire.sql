-- Deploy qwf:functions/times/_next_fire
-- Purpose: Returns when a schedule is next due after a given instant.
-- Guarantees: Depends only on its arguments, so that a restart changes nothing. Null if it is never
--   due again, or if this server does not know the time zone.
-- Called by: create_schedule, enable_schedule, _as_backfill, _check_fire, _fire_due, _next_due,
--   _schedule_problems, _with_due.

begin;

create function _qwf.next_fire(p_schedule qwf.schedules, p_after timestamptz) returns timestamptz
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_every numeric := extract(epoch from p_schedule.every);
  v_since numeric := extract(epoch from p_after) - extract(epoch from p_schedule.anchor);
begin
  if v_since < 0 then
    return p_schedule.anchor;
  elsif v_every is not null then
    return p_after + make_interval(secs => (v_every - v_since % v_every)::double precision);
  end if;
  return _qwf.cron_next(_qwf.cron_of(p_schedule), p_schedule.timezone, p_after);
exception
  when invalid_parameter_value then
    return null;
end $$;

commit;
