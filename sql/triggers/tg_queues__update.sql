-- Deploy qwf:triggers/tg_queues__update
-- Purpose: Tells agents that the lease, the timeout or the placement of a queue has changed.
-- Guarantees: Holds for every statement, and sends nothing if they stay the same. The values of a
--   queue override the settings, so that agents get the same message.
-- Notifies: worker_control, with settings.

begin;

create trigger tg_queues__update after update on qwf.queues
for each row when (
  (old.lease, old.timeout, old.placement) is distinct from (new.lease, new.timeout, new.placement))
execute function _qwf.tg_settings__update();
comment on trigger tg_queues__update on qwf.queues is
  'Lets agents use new settings of a queue without a restart.';

commit;
