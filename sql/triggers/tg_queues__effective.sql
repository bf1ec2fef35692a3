-- Deploy qwf:triggers/tg_queues__effective
-- Purpose: Keeps in the row of a queue the lease and the timeout that its jobs get: its own or, if
--   it has none, those of the settings.
-- Guarantees: Locks the settings, so that a queue that is made while they change gets the new
--   values: of two that come at once, the second sees what the first has committed.
-- Locks: the row of the settings, shared.

begin;

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

commit;
