-- Deploy qwf:functions/times/_cron_local
-- Purpose: Returns the next local time that a cron expression matches, on a clock that is never set
--   forward or back.
-- Guarantees: After the given time, in whole minutes. Skips whole fields. Null: never.
-- Called by: _cron_next.

begin;

create function _qwf.cron_local(p_cron _qwf.cron, p_after timestamp) returns timestamp
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_today date := p_after::date;
  v_hours int[] := p_cron.hours;
  v_minutes int[] := p_cron.minutes;
  v_hour int := extract(hour from p_after);
  v_minute int := extract(minute from p_after);
  v_number int;
  v_day date := _qwf.cron_day(p_cron, v_today);
begin
  if v_day = v_today then
    if v_hour = any (v_hours) then
      foreach v_number in array v_minutes loop
        if v_number > v_minute then
          return v_day + make_time(v_hour, v_number, 0);
        end if;
      end loop;
    end if;
    foreach v_number in array v_hours loop
      if v_number > v_hour then
        return v_day + make_time(v_number, v_minutes[1], 0);
      end if;
    end loop;
    v_day := _qwf.cron_day(p_cron, v_today + 1);
  end if;
  return v_day + make_time(v_hours[1], v_minutes[1], 0);
end $$;

commit;
