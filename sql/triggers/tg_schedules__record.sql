-- Deploy qwf:triggers/tg_schedules__record
-- Purpose: Writes the event of a created, changed or deleted schedule (see tg_settings__record).
-- Guarantees: Nothing for a schedule that fires. A schedule that is switched off because it is
--   never due again is a change, by the login that called tick().

begin;

create trigger tg_schedules__record after insert or delete on qwf.schedules
for each row execute function _qwf.tg_settings__record('schedule_changed');
comment on trigger tg_schedules__record on qwf.schedules is
  'Writes who created or deleted a schedule, and what it is.';

create trigger tg_schedules__record_change after update on qwf.schedules
for each row when (
  (old.name, old.task, old.workflow, old.cron, old.minute, old.hours, old.every, old.anchor,
    old.timezone, old.args, old.queue, old.priority, old.project, old.catch_up, old.overlap,
    old.enabled, old.options, old.expect)
  is distinct from
  (new.name, new.task, new.workflow, new.cron, new.minute, new.hours, new.every, new.anchor,
    new.timezone, new.args, new.queue, new.priority, new.project, new.catch_up, new.overlap,
    new.enabled, new.options, new.expect))
execute function _qwf.tg_settings__record('schedule_changed');
comment on trigger tg_schedules__record_change on qwf.schedules is
  'Writes who changed a schedule, from what to what.';

commit;
