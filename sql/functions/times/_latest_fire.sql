-- Deploy qwf:functions/times/_latest_fire
-- Purpose: Returns the last time of a schedule up to a given instant.
-- Guarantees: Depends only on its arguments. Looks back in windows that double, for 41 years, then
--   halves the window: some 40 steps, however often the schedule is due. The grid of an interval
--   goes back before its anchor. Null if there is no such time, or if this server
--   does not know the time zone.
-- Called by: fire_schedule, _as_backfill, _check_fire, _fire_due, _late_schedules, _record_missed,
--   _with_due.

begin;

create function _qwf.latest_fire(p_schedule qwf.schedules, p_until timestamptz)
returns timestamptz
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_every numeric := extract(epoch from p_schedule.every);
  v_since numeric := extract(epoch from p_until) - extract(epoch from p_schedule.anchor);
  v_cron _qwf.cron;
  v_window interval := interval '2 min';
  v_to timestamptz := p_until;  -- no time of the schedule lies between it and p_until
  v_middle timestamptz;
  v_found timestamptz;
  v_time timestamptz;
begin
  if v_every is not null then
    return p_until - make_interval(
      secs => (v_since - v_every * floor(v_since / v_every))::double precision);
  end if;
  v_cron := _qwf.cron_of(p_schedule);
  loop
    v_found := _qwf.cron_next(v_cron, p_schedule.timezone, p_until - v_window);
    exit when v_found <= p_until;
    if v_found is null or v_window > interval '15000 days' then
      return null;
    end if;
    v_window := v_window * 2;
  end loop;
  while v_to - v_found > interval '1 min' loop
    v_middle := v_found + (v_to - v_found) / 2;
    v_time := _qwf.cron_next(v_cron, p_schedule.timezone, v_middle);
    if v_time <= p_until then
      v_found := v_time;
    else
      v_to := v_middle;
    end if;
  end loop;
  v_time := _qwf.cron_next(v_cron, p_schedule.timezone, v_found);
  return case when v_time <= p_until then v_time else v_found end;
exception
  when invalid_parameter_value then
    return null;
end $$;

commit;
