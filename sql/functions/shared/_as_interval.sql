-- Deploy qwf:functions/shared/_as_interval
-- Purpose: Reads a duration as definitions write it: interval text such as "10 min", or a number of
--   seconds.
-- Guarantees: Null for everything except a positive duration of at most 366 days; never raises.
-- Called by: _alert_problems, _checked, _compile, _compile_node, _compile_question, _delay_end,
--   _drawn_node, _expect_problems, _judge, _judge_runs, _late_after, _late_schedules, _next_turn,
--   _open_node, _overdue_workflows, _read_alert.

begin;

create function _qwf.as_interval(p_value jsonb) returns interval
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_interval interval;
begin
  v_interval := case jsonb_typeof(p_value)
    when 'string' then (p_value #>> '{}')::interval
    when 'number' then make_interval(secs => p_value::double precision)
  end;
  return case when _qwf.is_duration(v_interval, '366 days') then v_interval end;
exception
  when data_exception then
    return null;
end $$;

commit;
