-- Deploy qwf:functions/times/_cron_next
-- Purpose: Returns the next instant at which a cron expression is due in a time zone.
-- Guarantees: A local time that occurs twice counts once, the first time; it counts twice if the
--   hour field begins with * or names all hours. A skipped local time counts at the instant after
--   the gap, but not if all hours are named: then only the next match counts.
-- Raises: 22023 for an unknown time zone.
-- Called by: _latest_fire, _next_fire, _times_from.

begin;

create function _qwf.cron_next(p_cron _qwf.cron, p_zone text, p_after timestamptz)
returns timestamptz
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_after timestamp := p_after at time zone p_zone;
  v_local timestamp := v_after;
  v_instants timestamptz[];
  v_next timestamptz;
begin
  loop
    v_local := _qwf.cron_local(p_cron, v_local);
    exit when v_local is null;
    v_instants := _qwf.instants_of_local_time(v_local, p_zone);
    if cardinality(p_cron.hours) = 24 and v_instants[1] at time zone p_zone <> v_local then
      v_local := v_instants[1] at time zone p_zone - interval '1 minute';  -- continue after the gap
    else
      v_next := case
        when v_instants[1] > p_after then v_instants[1]
        when p_cron.repeats then v_instants[2] end;
      exit when v_next > p_after;
    end if;
  end loop;
  if not p_cron.repeats then
    return v_next;
  end if;
  v_instants := _qwf.instants_of_local_time(date_trunc('minute', v_after), p_zone);
  if v_instants[2] > p_after then
    -- The clocks are about to be set back: times that they have shown will occur again.
    v_local := v_after - (v_instants[2] - v_instants[1]);
    loop
      v_local := _qwf.cron_local(p_cron, v_local);
      exit when v_local is null or v_local > v_after;
      v_instants := _qwf.instants_of_local_time(v_local, p_zone);
      if v_instants[2] > p_after then
        return least(v_next, v_instants[2]);
      end if;
    end loop;
  end if;
  return v_next;
end $$;

commit;
