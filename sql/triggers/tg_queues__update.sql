-- Deploy qwf:triggers/tg_queues__update
-- requires: schema/queues
-- Purpose: Tells agents that a queue gives its jobs another lease or timeout.
-- Guarantees: Whatever statement changed it; nothing where it leaves both as they were.
-- Notifies: worker_control, with settings.

begin;

create function qwf.tg_queues__update() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform pg_notify('worker_control', 'settings');
  return null;
end $$;
comment on function qwf.tg_queues__update() is 'Sends settings on channel worker_control.';
revoke all on function qwf.tg_queues__update() from public;

create trigger tg_queues__update after update on qwf.queues
for each row when ((old.lease, old.timeout) is distinct from (new.lease, new.timeout))
execute function qwf.tg_queues__update();
comment on trigger tg_queues__update on qwf.queues is
  'Agents go by the settings of a queue without a restart.';

commit;
