-- Deploy qwf:functions/schedules/_as_backfill
-- Purpose: Returns a schedule as the backfill of its times from p_since on, before p_until.
-- Guarantees: Its first time is its next one. The grid of an interval begins at p_since or sooner,
--   and has the same times.
-- Raises: QW005 for no time, and for more than 10,000.
-- Called by: backfill, due_times.

begin;

create function _qwf.as_backfill(
  p_schedule qwf.schedules, p_since timestamptz, p_until timestamptz)
returns qwf.schedules
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_schedule qwf.schedules := p_schedule;
begin
  v_schedule.backfill_of := coalesce(p_schedule.backfill_of, p_schedule.name);
  if p_schedule.anchor > p_since then
    v_schedule.anchor := _qwf.latest_fire(p_schedule, p_since);
  end if;
  v_schedule.next_at := _qwf.next_fire(v_schedule, p_since - interval '1 us');
  v_schedule.planned := (
    select count(*) from _qwf.times_from(v_schedule, v_schedule.next_at, p_until, 10001));
  if v_schedule.planned not between 1 and 10000 then
    raise exception using errcode = 'QW005',
      message = case v_schedule.planned when 0 then 'no time of the schedule lies between'
        else 'more than 10,000 times' end,
      detail = format('schedule %s from %s on, before %s', v_schedule.name, p_since, p_until),
      hint = case v_schedule.planned when 0
        then format('the time before is %s, the next one %s',
          _qwf.latest_fire(p_schedule, p_since), v_schedule.next_at)
        else 'backfill one part after the other' end;
  end if;
  v_schedule.ends_at := p_until;
  v_schedule.enabled := true;
  v_schedule.catch_up := 'all';
  v_schedule.overlap := 'allow';
  return v_schedule;
end $$;

commit;
