-- Deploy qwf:triggers/tg_settings__update
-- Purpose: Tells agents that the settings have changed, so that they read them again.
-- Guarantees: Whatever statement changed them; nothing where it leaves them as they were.
-- Notifies: worker_control, with settings.

begin;

create function qwf.tg_settings__update() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform pg_notify('worker_control', 'settings');
  return null;
end $$;
comment on function qwf.tg_settings__update is 'Sends settings on channel worker_control.';
revoke all on function qwf.tg_settings__update from public;

create trigger tg_settings__update after update on qwf.settings
for each row when (old.* is distinct from new.*) execute function qwf.tg_settings__update();
comment on trigger tg_settings__update on qwf.settings is
  'Agents go by new settings without a restart.';

commit;
