-- Deploy qwf:functions/holds/_spread_holds
-- Purpose: Writes into the workers which tasks are held back on their queues: claim reads their
--   rows anyway.
-- Guarantees: Never waits: the caller holds rows of held_tasks, and a transaction that holds the
--   row of a worker may report a crash next. The next tick tells a worker that was locked.
-- Locks: the workers that are free, by id.
-- Called by: _note_crash, _try_held_tasks, register_worker.

begin;

create function _qwf.spread_holds() returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  update qwf.workers w set held_tasks = free.held
  from (
    select l.id, t.held
    from qwf.workers l
    left join (
      select h.queue, array_agg(h.task order by h.task) as held
      from qwf.held_tasks h where h.until is not null group by h.queue) t on t.queue = l.queue
    where l.stopped_at is null and l.held_tasks is distinct from t.held
    order by l.id
    for no key update of l skip locked
  ) free
  where w.id = free.id
$$;

commit;
