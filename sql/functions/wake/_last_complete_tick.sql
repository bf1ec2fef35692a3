-- Deploy qwf:functions/wake/_last_complete_tick
-- Purpose: When a tick began that left nothing to do, if that is no longer ago than max_age.
-- Guarantees: Reads a hint, which no transaction holds back. One that lies in the future, as after
--   the clock was set back, counts for nothing.
-- Raises: QW005 for an age that is negative or more than a year.
-- Called by: tick, stay_asleep.

begin;

create function _qwf.last_complete_tick(p_max_age interval) returns timestamptz
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_at timestamptz := (select to_timestamp(c.last_value / 1000.0) from qwf.caught_up c);
  v_now timestamptz := qwf.now();  -- read after it: what another notes meanwhile is not the future
begin
  if p_max_age not between '0 s' and '366 days' then
    raise exception using errcode = 'QW005', message = 'not an age',
      detail = format('max_age %s', p_max_age),
      hint = 'give at most 366 days; null is no age at all';
  end if;
  return case when v_at between v_now - p_max_age and v_now then v_at end;
end $$;

commit;
