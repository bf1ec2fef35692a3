-- Deploy qwf:functions/queues/pause_queue
-- Purpose: Stops handing out jobs of a queue.
-- Guarantees: Running jobs continue, and work may be enqueued.
-- Locks: the row of the queue.
-- Called by: operators, qwf queue pause.

begin;

create function qwf.pause_queue(name text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  update qwf.queues q set paused = true, paused_at = coalesce(q.paused_at, qwf.now())
  where q.name = pause_queue.name;
  if not found then
    perform _qwf.raise_unknown_queue(pause_queue.name);
  end if;
end $$;
comment on function qwf.pause_queue is
  'Stops handing out jobs of the queue until resume_queue(); running jobs continue. QW006 for an '
  'unknown queue.';
call _qwf.allow('qwf.pause_queue', 'qwf_admin');

commit;
