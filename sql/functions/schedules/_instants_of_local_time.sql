-- Deploy qwf:functions/schedules/_instants_of_local_time
-- Purpose: When the clocks of a time zone show a given time.
-- Guarantees: One instant; two, in order, where clocks that are put back show it twice; where
--   clocks that are put forward never show it, the instant at which they pass it.
-- Raises: 22023 for an unknown time zone.
-- Called by: _cron_next.

begin;

create function _qwf.instants_of_local_time(p_local timestamp, p_zone text) returns timestamptz[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Postgres takes the later of two; one that is skipped it counts on from before the change.
  v_at timestamptz := p_local at time zone p_zone;
  v_shown timestamp := v_at at time zone p_zone;
  v_put_back interval;
begin
  if v_shown <> p_local then
    return array[(
      select min(t)
      from generate_series(v_at - (v_shown - p_local), v_at, interval '1 minute') t
      where t at time zone p_zone >= p_local)];
  end if;
  v_put_back := (v_at - interval '24 hours') at time zone p_zone + interval '24 hours' - v_shown;
  if v_put_back > '0 s' and (v_at - v_put_back) at time zone p_zone = p_local then
    return array[v_at - v_put_back, v_at];
  end if;
  return array[v_at];
end $$;

commit;
