-- Deploy qwf:functions/times/_instants_of_local_time
-- Purpose: Returns the instants at which the clocks of a time zone show a given time.
-- Guarantees: One instant. Two, in order, if the clocks show the time twice because they are set
--   back. If they never show it because they are set forward: the instant of that change.
-- Raises: 22023 for an unknown time zone.
-- Called by: _cron_next.

begin;

create function _qwf.instants_of_local_time(p_local timestamp, p_zone text) returns timestamptz[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Of two instants, Postgres takes the later. For a skipped time, it uses the old offset.
  v_at timestamptz := p_local at time zone p_zone;
  v_shown timestamp := v_at at time zone p_zone;
  v_set_back interval;
begin
  if v_shown <> p_local then
    return array[coalesce((
      select min(t)
      from generate_series(v_at - (v_shown - p_local), v_at, interval '1 minute') t
      where t at time zone p_zone >= p_local), v_at)];
  end if;
  v_set_back := (v_at - interval '24 hours') at time zone p_zone + interval '24 hours' - v_shown;
  if v_set_back > '0 s' and (v_at - v_set_back) at time zone p_zone = p_local then
    return array[v_at - v_set_back, v_at];
  end if;
  return array[v_at];
end $$;

commit;
