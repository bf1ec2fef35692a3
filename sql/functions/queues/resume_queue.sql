-- Deploy qwf:functions/queues/resume_queue
-- Purpose: Hands out jobs of a paused queue again, or of a task of it that is held back.
-- Guarantees: With a task the queue stays as it is. The next tick lets one job of the task run
--   alone; unless it crashes, the others follow.
-- Locks: the row of the queue, or of held_tasks.
-- Notifies: sleepers of the queue.
-- Called by: operators, qwf queue resume.

begin;

create function qwf.resume_queue(name text, task text default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  if resume_queue.task is not null then
    if _qwf.free_tasks(resume_queue.name, array[resume_queue.task]) = 0 then
      raise exception using errcode = 'QW001', message = 'no such held task',
        detail = format('task %L of queue %L', left(resume_queue.task, 200),
          left(resume_queue.name, 200)),
        hint = 'qwf doctor names the tasks that are held back';
    end if;
    return;
  end if;
  update qwf.queues q set paused = false, paused_at = null where q.name = resume_queue.name;
  if not found then
    perform _qwf.raise_unknown_queue(resume_queue.name);
  end if;
  perform _qwf.wake(resume_queue.name, 16);
end $$;
comment on function qwf.resume_queue is
  'Hands out jobs of the queue again, and wakes workers that sleep on it. With a task: jobs of '
  'this task, which is held back because it crashed; the first one runs alone. QW001 for a task '
  'that is not held back, QW006 for an unknown queue.';
call _qwf.allow('qwf.resume_queue', 'qwf_admin');

commit;
