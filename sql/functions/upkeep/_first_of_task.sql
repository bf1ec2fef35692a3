-- Deploy qwf:functions/upkeep/_first_of_task
-- Purpose: Returns the first waiting job of a task of a queue, of the first 10,000 without a limit
--   and of as many with one.
-- Locks: the job; skips those that somebody else has locked.
-- Called by: _try_held_tasks.

begin;

create function _qwf.first_of_task(p_queue text, p_task text) returns qwf.jobs
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_sort = on
set jit = off
as $$
declare
  v_job qwf.jobs;
begin
  select j.* into v_job
  from qwf.jobs j
  where j.status = 'queued' and j.task = p_task and j.id = any (array(
    select h.id from (
      (select q.id, q.task, q.priority, q.position from qwf.jobs q
      where q.queue = p_queue and q.status = 'queued' and q.limit_by is null
      order by q.run_next desc, q.priority, q.position limit 10000)
      union all
      (select q.id, q.task, q.priority, q.position from qwf.jobs q
      where q.queue = p_queue and q.status = 'queued' and q.limit_by is not null limit 10000)
    ) h
    where h.task = p_task
    order by h.priority, h.position limit 100))
  order by j.priority, j.position
  limit 1 for no key update skip locked;
  return v_job;
end $$;

commit;
