-- Deploy qwf:functions/wake/wake
-- Purpose: Takes a worker off the list of sleepers.
-- Guarantees: Nobody sends it a NOTIFY for new jobs any more.
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
  'Takes the worker off the list of sleepers, so that wake-ups for new jobs go to others.';
call _qwf.allow('qwf.wake', 'qwf_worker');

commit;
