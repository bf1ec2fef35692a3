-- Deploy qwf:functions/times/_times_from
-- Purpose: Returns the times of a schedule from one of its times on, before an instant.
-- Guarantees: At most p_max, so that its cost is bounded. No more if this server does not know the
--   time zone. With p_before null there is no end but p_max.
-- Called by: due_times, _as_backfill, _record_missed.

begin;

create function _qwf.times_from(
  p_schedule qwf.schedules, p_from timestamptz, p_before timestamptz, p_max int)
returns setof timestamptz
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_cron _qwf.cron;
  v_time timestamptz := p_from;
  v_every interval := make_interval(  -- a day has 24 hours, also when clocks change
    secs => extract(epoch from p_schedule.every)::double precision);
begin
  if v_every is null then
    v_cron := _qwf.cron_of(p_schedule);
  end if;
  for v_place in 1 .. p_max loop
    exit when v_time is null or v_time >= p_before;
    return next v_time;
    v_time := case when v_every is not null then v_time + v_every
      else _qwf.cron_next(v_cron, p_schedule.timezone, v_time) end;
  end loop;
exception
  when invalid_parameter_value then
    return;
end $$;

commit;
