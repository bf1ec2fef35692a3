-- Deploy qwf:functions/times/_due_scope
-- Purpose: Returns the scope in which the args and options of a schedule are resolved: due, with
--   the times before and after it.
-- Guarantees: previous and next are times of the schedule, so a day in which clocks change has 23
--   or 25 hours between them.
-- Called by: _with_due.

begin;

create function _qwf.due_scope(p_schedule qwf.schedules, p_due timestamptz) returns jsonb
language sql stable
as $$
  select jsonb_build_object('due', _qwf.due_date(p_due, p_schedule.timezone) || jsonb_build_object(
    'previous', _qwf.due_date(
      _qwf.latest_fire(p_schedule, p_due - interval '1 us'), p_schedule.timezone),
    'next', _qwf.due_date(_qwf.next_fire(p_schedule, p_due), p_schedule.timezone)))
$$;

commit;
