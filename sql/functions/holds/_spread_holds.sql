-- Deploy qwf:functions/holds/_spread_holds
-- Purpose: Writes into the workers of a queue which tasks are held back there: claim reads their
--   rows anyway.
-- Locks: the workers, by id.
-- Called by: _note_crash, _try_held_tasks, register_worker.

begin;

create function _qwf.spread_holds(p_queue text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tasks text[] := (
    select array_agg(h.task order by h.task) from qwf.held_tasks h
    where h.queue = p_queue and h.until is not null);
begin
  update qwf.workers w set held_tasks = v_tasks
  from (
    select l.id from qwf.workers l
    where l.queue = p_queue and l.stopped_at is null and l.held_tasks is distinct from v_tasks
    order by l.id
    for no key update
  ) locked
  where w.id = locked.id;
end $$;

commit;
