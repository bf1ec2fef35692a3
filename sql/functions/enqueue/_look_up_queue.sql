-- Deploy qwf:functions/enqueue/_look_up_queue
-- Purpose: Returns what enqueue needs to know about a queue: the size limit of values, whether a
--   live worker serves it, knows the task and works for the project, and whether a worker sleeps
--   on it.
-- Guarantees: No row for an unknown queue. PostgreSQL inlines it. Ends at the first worker that
--   knows the task or takes any, which as a rule is the first one; else reads the live ones.
-- Called by: enqueue, enqueue_many.

begin;

create function _qwf.look_up_queue(p_queue text, p_task text, p_project text, p_now timestamptz)
returns table (max_value_bytes int, served boolean, asleep boolean)
language sql stable
as $$
  select s.max_value_bytes, exists (
    select from qwf.workers w
    where w.queue = p_queue and w.stopped_at is null and w.last_seen > p_now - s.worker_stale
      and (w.tasks is null or p_task = any (w.tasks))
      and (w.project is null or w.project = p_project)
      and (w.held_tasks is null or p_task <> all (w.held_tasks))),
    exists (select from qwf.sleepers l where l.queue = p_queue)
  from qwf.queues q cross join qwf.settings s
  where q.name = p_queue and not starts_with(p_queue, 'qwf.')
$$;

commit;
