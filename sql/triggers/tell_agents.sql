-- Agents notified of changed settings and queues.

-- Tells agents to read the settings again because they have changed, and gives the queues the
-- lease and the timeout that are in force now (tg_queues__effective). Holds for every statement,
-- and sends nothing if the settings stay the same.
-- Locks: the queues without a lease or a timeout of their own.
-- Notifies: worker_control, with settings.
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

-- Keeps in the row of a queue the lease and the timeout that its jobs get: its own or, if it has
-- none, those of the settings. Locks the settings, so that a queue that is made while they
-- change gets the new values: of two that come at once, the second sees what the first has
-- committed.
-- Locks: the row of the settings, shared.
create function _qwf.tg_queues__effective() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  select coalesce(new.lease, s.lease), coalesce(new.timeout, s.timeout)
    into new.effective_lease, new.effective_timeout
  from qwf.settings s
  for share;
  return new;
end $$;

create trigger tg_queues__effective
before insert or update of lease, timeout, effective_lease, effective_timeout on qwf.queues
for each row execute function _qwf.tg_queues__effective();
comment on trigger tg_queues__effective on qwf.queues is
  'Keeps the lease and the timeout that the jobs of the queue get.';
update qwf.queues set effective_lease = default, effective_timeout = default;

-- Tells agents that the lease, the timeout or the placement of a queue has changed. Holds for
-- every statement, and sends nothing if they stay the same. The values of a queue override the
-- settings, so that agents get the same message.
-- Notifies: worker_control, with settings.
create trigger tg_queues__update after update on qwf.queues
for each row when (
  (old.lease, old.timeout, old.placement) is distinct from (new.lease, new.timeout, new.placement))
execute function _qwf.tg_settings__update();
comment on trigger tg_queues__update on qwf.queues is
  'Lets agents use new settings of a queue without a restart.';
