-- Deploy qwf:functions/late/_judge_schedules
-- Purpose: Tells of schedules that are late, and of those that succeed again after they were late,
--   failed or left out a time.
-- Guarantees: schedule_ok once for all that was wrong with a schedule, when a job or run of it
--   completes that began to be wrong before. Of a schedule that was dropped nothing is told.
-- Locks: as _tell_states; rows of open_states.
-- Called by: _judge.

begin;

create function _qwf.judge_schedules(p_now timestamptz) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_count int;
begin
  with over as (
    delete from _qwf.open_states o
    where o.kind in ('schedule_failed', 'schedule_skipped', 'schedule_late') and (
      not exists (select from qwf.schedules s where s.name = o.subject)
      or exists (
        select from qwf.firings f
        where coalesce(f.backfill_of, f.schedule) = o.subject and f.result = 'completed'
          and f.ended_at > o.since))
    returning o.subject, o.since
  )
  insert into _qwf.event_log (at, kind, subject, names, detail)
  select p_now, 'schedule_ok', v.subject, jsonb_build_object('schedule', v.subject),
    jsonb_build_object('since', min(v.since))
  from over v join qwf.schedules s on s.name = v.subject
  group by v.subject;
  get diagnostics v_count = row_count;
  with began as (
    insert into _qwf.open_states as o (kind, subject, since)
    select 'schedule_late', l.name, p_now from _qwf.late_schedules(p_now) l
    on conflict (kind, subject) do nothing
    returning o.subject
  )
  insert into _qwf.event_log (at, kind, subject, names, detail)
  select p_now, 'schedule_late', l.name, jsonb_build_object('schedule', l.name),
    jsonb_strip_nulls(jsonb_build_object('due_at', l.due_at, 'last_success', l.last_success,
      'takes', floor(date_part('epoch', l.takes))))
  from began b join _qwf.late_schedules(p_now) l on l.name = b.subject;
  return v_count;
end $$;

commit;
