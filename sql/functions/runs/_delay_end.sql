-- Deploy qwf:functions/runs/_delay_end
-- Purpose: Returns when the delays of a node end, one after the other: durations are added, a time
--   is one before which the node does not open.
-- Guarantees: The value is a time. A delay that resolves to null or 0 is none. An error is one of
--   _resolve, or says what is neither a duration nor a time. A time without a zone is in UTC. At
--   most 366 days from now.
-- Called by: _open_guarded.

begin;

create function _qwf.delay_end(p_delays jsonb, p_scope jsonb) returns _qwf.resolution
language plpgsql stable
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  v_now timestamptz := qwf.now();
  v_end timestamptz := v_now;
  v_delay jsonb;
  v_found _qwf.resolution;
begin
  for v_delay in select d.value from jsonb_array_elements(p_delays) d (value) loop
    v_found := _qwf.resolve(v_delay, p_scope);
    if v_found.error is not null then
      return v_found;
    end if;
    v_delay := v_found.value;
    continue when v_delay in ('null', '0');
    v_end := case
      when _qwf.as_interval(v_delay) is not null then v_end + _qwf.as_interval(v_delay)
      when v_delay #>> '{}' ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}'
        then greatest(v_end, (v_delay #>> '{}')::timestamptz) end;
    if v_end is null or v_end > v_now + interval '366 days' then
      return (null, format('delay is %s, neither a duration nor a time within a year',
        left(v_delay::text, 200)))::_qwf.resolution;
    end if;
  end loop;
  return (to_jsonb(v_end), null)::_qwf.resolution;
exception
  when data_exception then
    return (null, format('delay is %s, not a time', left(v_delay::text, 200)))::_qwf.resolution;
end $$;

commit;
