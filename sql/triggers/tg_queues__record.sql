-- Deploy qwf:triggers/tg_queues__record
-- Purpose: Writes the event of a created, changed or deleted queue (see tg_settings__record).
-- Guarantees: Nothing for values that are derived from others.

begin;

create trigger tg_queues__record after insert or update or delete on qwf.queues
for each row
execute function _qwf.tg_settings__record('queue_changed');
comment on trigger tg_queues__record on qwf.queues is
  'Writes who created, changed or deleted a queue, from what to what.';

commit;
