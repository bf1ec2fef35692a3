-- Deploy qwf:functions/queues/resume_queue
-- Purpose: Hands out jobs of a paused queue again.
-- Locks: the row of the queue.
-- Notifies: sleepers of the queue.
-- Called by: operators, qwf queue resume.

begin;

create function qwf.resume_queue(name text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  update qwf.queues q set paused = false, paused_at = null where q.name = resume_queue.name;
  if not found then
    perform _qwf.raise_unknown_queue(resume_queue.name);
  end if;
  perform _qwf.wake(resume_queue.name, 16);
end $$;
comment on function qwf.resume_queue is
  'Hands out jobs of the queue again, and wakes workers that sleep on it. QW006 for an unknown '
  'queue.';
call _qwf.allow('qwf.resume_queue', 'qwf_admin');

commit;
