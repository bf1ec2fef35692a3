-- Deploy qwf:triggers/tg_limits__record
-- Purpose: Writes the event of a created, changed or deleted limit (see tg_settings__record).
-- Guarantees: Nothing for the limit of a queue: the event of the queue names it.

begin;

create trigger tg_limits__record after insert or update on qwf.limits
for each row when (not starts_with(new.name, 'queue:'))
execute function _qwf.tg_settings__record('limit_changed');
comment on trigger tg_limits__record on qwf.limits is
  'Writes who created or changed a limit, from what to what.';

create trigger tg_limits__record_drop after delete on qwf.limits
for each row when (not starts_with(old.name, 'queue:'))
execute function _qwf.tg_settings__record('limit_changed');
comment on trigger tg_limits__record_drop on qwf.limits is
  'Writes who deleted a limit, and what it was.';

commit;
