-- Deploy qwf:functions/wake/wake
-- Purpose: Takes a worker off the list of sleepers.
-- Guarantees: Nobody sends it a NOTIFY for work any more.
-- Locks: the worker's own rows in sleepers.
-- Called by: agents that have work again.

begin;

create function qwf.wake(worker text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  delete from qwf.sleepers s where s.worker = wake.worker;
end $$;
comment on function qwf.wake is
  'Says that the worker is awake: wake-ups for new work go to others.';
call _qwf.allow('qwf.wake', 'qwf_worker');

commit;
