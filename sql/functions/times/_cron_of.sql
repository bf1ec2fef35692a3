-- Deploy qwf:functions/times/_cron_of
-- Purpose: Reads when a schedule by cron, or by minute and hours, is due.
-- Guarantees: Reading takes ten times as long as finding the next time, so who looks for several
--   times reads once.
-- Called by: _latest_fire, _next_fire, _times_from.

begin;

create function _qwf.cron_of(p_schedule qwf.schedules) returns _qwf.cron
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return _qwf.read_cron(coalesce(p_schedule.cron, format('%s %s * * *', p_schedule.minute,
    coalesce(array_to_string(p_schedule.hours, ','), '*'))));
end $$;

commit;
