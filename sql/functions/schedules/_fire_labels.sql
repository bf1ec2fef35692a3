-- Deploy qwf:functions/schedules/_fire_labels
-- Purpose: Returns the labels of what a schedule enqueues for a time: schedule, due, backfill_of,
--   and missed if earlier times were left out because nobody called tick().
-- Guarantees: No label due without a time. missed is the first of the times that were left out.
-- Called by: fire_schedule, _enqueue_scheduled.

begin;

create function _qwf.fire_labels(p_schedule qwf.schedules, p_due timestamptz) returns jsonb
language sql stable
as $$
  select jsonb_strip_nulls(jsonb_build_object(
    'schedule', p_schedule.name, 'due', _qwf.utc(p_due), 'backfill_of', p_schedule.backfill_of,
    'missed', (
      select _qwf.utc(coalesce(f.since, f.due_at))
      from (
        select l.* from qwf.firings l
        where l.schedule = p_schedule.name order by l.id desc limit 1) f
      where f.reason = 'missed' and p_due is not null)))
$$;

commit;
