-- Deploy qwf:functions/holds/_free_tasks
-- Purpose: Ends the time for which tasks of a queue are held back: the next tick lets one job of
--   each run alone. Returns how many these are.
-- Locks: the rows of held_tasks, by task.
-- Called by: register_worker, resume_queue, update_worker.

begin;

create function _qwf.free_tasks(p_queue text, p_tasks text[]) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := qwf.now();
  v_count int;
begin
  update qwf.held_tasks h set until = least(h.until, v_now)
  from (
    select l.queue, l.task from qwf.held_tasks l
    where l.queue = p_queue and l.task = any (p_tasks) and l.until is not null
    order by l.task for no key update) held
  where h.queue = held.queue and h.task = held.task;
  get diagnostics v_count = row_count;
  return v_count;
end $$;

commit;
