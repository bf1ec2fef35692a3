-- Deploy qwf:functions/wake/_last_complete_tick
-- Purpose: Returns when the last tick began that left nothing to do, if that was at most max_age
--   ago.
-- Guarantees: Reads a hint that no open transaction holds back. Ignores a time in the future, as
--   after the clock was set back, and a tick whose work was rolled back or is not committed.
-- Raises: QW005 for an age that is negative or more than a year.
-- Called by: tick, stay_asleep.

begin;

create function _qwf.last_complete_tick(p_max_age interval) returns timestamptz
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_at timestamptz := (select to_timestamp(c.last_value / 1000.0) from qwf.last_complete_tick c);
  v_now timestamptz := qwf.now();  -- read second: a tick that ends between is not in the future
begin
  if not _qwf.is_duration(p_max_age, '366 days', p_least => '0 s') then
    raise exception using errcode = 'QW005', message = 'invalid age',
      detail = format('max_age %s', p_max_age),
      hint = 'give 0 s to 366 days, or null to ignore earlier ticks';
  end if;
  return case when v_at between v_now - p_max_age and v_now and _qwf.has_committed(
    (select c.last_value from qwf.last_complete_tick_xid c)) then v_at end;
end $$;

commit;
