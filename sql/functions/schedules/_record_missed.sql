-- Deploy qwf:functions/schedules/_record_missed
-- Purpose: Records the missed times of a schedule that do not fire: those from its next time on,
--   before p_before. Tells of them in a warning, if one is more than a minute old.
-- Guarantees: Returns how many times these are, at most 1,000.
-- Locks: expects the schedule locked by the caller.
-- Called by: _fire_due.

begin;

create function _qwf.record_missed(
  p_schedule qwf.schedules, p_before timestamptz, p_now timestamptz)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_firing qwf.firings;
begin
  v_firing.times := (
    select count(*) from _qwf.times_from(p_schedule, p_schedule.next_at, p_before, 1000));
  v_firing.schedule := p_schedule.name;
  v_firing.since := p_schedule.next_at;
  v_firing.due_at := _qwf.latest_fire(p_schedule, p_before - interval '1 us');
  v_firing.at := p_now;
  v_firing.outcome := 'skipped';
  v_firing.reason := 'missed';
  perform _qwf.record_firing(v_firing);
  if p_schedule.next_at < p_now - interval '1 min' then
    raise warning using
      message = format('schedule %s: times were missed since %s, they %s', p_schedule.name,
        p_schedule.next_at, case p_schedule.catch_up when 'one' then 'fire once, for the latest'
          else 'are left out' end),
      hint = 'nobody called tick(), or the server was down; catch_up => ''all'' fires for each '
        'missed time; qwf.backfill fires for them now';
  end if;
  return v_firing.times;
end $$;

commit;
