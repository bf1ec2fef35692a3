-- Deploy qwf:triggers/tg_queues__update
-- Purpose: Tells agents that a queue gives its jobs another lease or timeout.
-- Guarantees: Whatever statement changed it; nothing where it leaves both as they were. What a
--   queue says overrides the settings, so they are told the same.
-- Notifies: worker_control, with settings.

begin;

create trigger tg_queues__update after update on qwf.queues
for each row when ((old.lease, old.timeout) is distinct from (new.lease, new.timeout))
execute function qwf.tg_settings__update();
comment on trigger tg_queues__update on qwf.queues is
  'Agents go by the settings of a queue without a restart.';

commit;
