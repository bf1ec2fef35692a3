-- Deploy qwf:functions/times/_due_date
-- Purpose: Returns what references read of one time of a schedule: at in UTC, date and hour in the
--   time zone of the schedule.
-- Guarantees: Each key is there, and null if there is no such time.
-- Called by: _with_due.

begin;

create function _qwf.due_date(p_at timestamptz, p_zone text) returns jsonb
language sql stable
as $$
  select jsonb_build_object(
    'at', _qwf.utc(p_at), 'date', (p_at at time zone p_zone)::date,
    'hour', extract(hour from p_at at time zone p_zone)::int)
$$;

commit;
