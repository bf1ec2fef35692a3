-- Deploy qwf:triggers/tg_settings__update
-- Purpose: Tells agents to read the settings again because they have changed, and gives the queues
--   the lease and the timeout that are in force now (tg_queues__effective).
-- Guarantees: Holds for every statement, and sends nothing if the settings stay the same.
-- Locks: the queues without a lease or a timeout of their own.
-- Notifies: worker_control, with settings.

begin;

create function _qwf.tg_settings__update() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_table_name = 'settings' then
    update qwf.queues q set effective_lease = default, effective_timeout = default
    where q.lease is null or q.timeout is null;
  end if;
  perform pg_notify('worker_control', 'settings');
  return null;
end $$;

create trigger tg_settings__update after update on qwf.settings
for each row when (old.* is distinct from new.*) execute function _qwf.tg_settings__update();
comment on trigger tg_settings__update on qwf.settings is
  'Lets agents use new settings without a restart.';

commit;
