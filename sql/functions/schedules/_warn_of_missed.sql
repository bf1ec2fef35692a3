-- Deploy qwf:functions/schedules/_warn_of_missed
-- Purpose: Tells in a warning that missed times of a schedule do not fire, or all together once.
-- Called by: _fire_due.

begin;

create function _qwf.warn_of_missed(p_schedule qwf.schedules, p_what text, p_since timestamptz)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  raise warning using
    message = format('schedule %s: times were missed since %s, they %s', p_schedule.name, p_since,
      p_what),
    hint = 'nobody called tick(), or the server was down; catch_up => ''all'' fires for each '
      'missed time';
end $$;

commit;
