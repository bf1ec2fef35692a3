-- Deploy qwf:functions/times/_with_due
-- Purpose: Returns the args or options of a schedule with the time for which it fires in place of
--   its references.
-- Guarantees: A value without references costs nothing. due has the times before and after it,
--   which are times of the schedule: a day in which clocks change has 23 or 25 hours between them.
-- Raises: QW005 if a reference cannot be resolved; create_schedule refuses those that never can.
-- Called by: _option_problems, _start_scheduled, _work_problems.

begin;

create function _qwf.with_due(p_value jsonb, p_schedule qwf.schedules, p_due timestamptz)
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_result _qwf.resolution;
begin
  if p_value::text !~ '"[$]' then
    return p_value;
  end if;
  v_result := _qwf.resolve(p_value, jsonb_build_object('due',
    _qwf.due_date(p_due, p_schedule.timezone) || jsonb_build_object(
      'previous', _qwf.due_date(
        _qwf.latest_fire(p_schedule, p_due - interval '1 us'), p_schedule.timezone),
      'next', _qwf.due_date(_qwf.next_fire(p_schedule, p_due), p_schedule.timezone))));
  if v_result.error is not null then
    raise exception using errcode = 'QW005',
      message = 'the args of the schedule cannot be resolved', detail = v_result.error,
      hint = '"due" has at, date, hour, previous, next';
  end if;
  return v_result.value;
end $$;

commit;
