-- Deploy qwf:functions/schedules/_check_backfill
-- Purpose: Refuses a backfill that could do nothing, or for which the schedule itself fires.
-- Raises: QW005 with all problems.
-- Called by: backfill, due_times.

begin;

create function _qwf.check_backfill(
  p_schedule qwf.schedules, p_since timestamptz, p_until timestamptz, p_at_once int,
  p_now timestamptz)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  perform _qwf.raise_problems('QW005', 'invalid backfill', array(
    select row(r.path, r.problem, r.hint)::_qwf.problem
    from (values
      ('name', p_schedule.backfill_of is not null, 'is a backfill itself',
        'name the schedule: ' || p_schedule.backfill_of),
      ('at_once', (p_at_once between 1 and 10000) is not true, 'must be within 1 to 10,000', null),
      ('since', (isfinite(p_since) and _qwf.is_readable_time(p_since)) is not true,
        'must be a time within the years 1 to 9999', null),
      ('until', (isfinite(p_until) and _qwf.is_readable_time(p_until)) is not true,
        'must be a time within the years 1 to 9999', null),
      ('since', p_since >= p_until, 'must be before until',
        'until is the end: its time itself is not fired'),
      ('until', p_until > p_now, 'lies ahead',
        'the schedule itself fires for the times to come; the latest until is now')
    ) r (path, violated, problem, hint)
    where r.violated));
end $$;

commit;
