-- Deploy qwf:functions/schedules/_check_fire
-- Purpose: Refuses to fire a schedule by hand: a backfill, for a time that it does not have or that
--   lies ahead, for one that is being worked on, or while its last work goes on.
-- Locks: expects the schedule locked by the caller.
-- Raises: QW002, QW005.
-- Called by: fire_schedule.

begin;

create function _qwf.check_fire(p_schedule qwf.schedules, p_due timestamptz, p_now timestamptz)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_near timestamptz := case when p_due is not null
    then greatest(least(p_due, p_now), 'epoch') end;
begin
  if p_schedule.backfill_of is not null then
    raise exception using errcode = 'QW005', message = 'a backfill fires by itself',
      detail = format('schedule %s', p_schedule.name),
      hint = format('for one time: select qwf.fire_schedule(%L, due => ...)',
        p_schedule.backfill_of);
  elsif not _qwf.is_readable_time(p_due) or not isfinite(p_due) or p_due > p_now
    or _qwf.latest_fire(p_schedule, v_near) is distinct from p_due then
    raise exception using errcode = 'QW005',
      message = case when p_due > p_now then 'the time lies ahead'
        else 'the schedule has no such time' end,
      detail = format('due: %s', p_due),
      hint = format('the time before is %s, the next one %s', coalesce(
          _qwf.latest_fire(p_schedule, v_near)::text, 'none'),
        _qwf.next_fire(p_schedule, v_near));
  elsif _qwf.time_taken(p_schedule.name, p_due) = 'open' then
    raise exception using errcode = 'QW002', message = 'the time is being worked on',
      detail = format('schedule %s, due %s', p_schedule.name, p_due),
      hint = 'wait for its end, or cancel it: select * from qwf.firing_details';
  elsif p_schedule.overlap <> 'allow'
    and _qwf.is_unfinished(p_schedule.last_job_id, p_schedule.last_run_id) then
    raise exception using errcode = 'QW002',
      message = 'what the schedule enqueued last is not over',
      detail = format('schedule %s, %s', p_schedule.name, coalesce(
        'run ' || p_schedule.last_run_id, 'job ' || p_schedule.last_job_id)),
      hint = 'wait for its end, or cancel it; overlap => ''allow'' fires regardless';
  end if;
end $$;

commit;
