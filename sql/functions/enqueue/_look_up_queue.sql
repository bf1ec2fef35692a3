-- Deploy qwf:functions/enqueue/_look_up_queue
-- Purpose: Returns what enqueue needs to know about a queue: the size limit of values, whether a
--   live worker serves it, and whether a worker sleeps on it.
-- Raises: QW006 for an unknown queue.
-- Called by: enqueue, enqueue_many, _read_jobs.

begin;

create function _qwf.look_up_queue(
  p_queue text, p_where text, out max_value_bytes int, out served boolean,
  out asleep boolean)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := qwf.now();
begin
  select s.max_value_bytes, exists (
    select from qwf.workers w
    where w.queue = p_queue and w.stopped_at is null and w.last_seen > v_now - s.worker_stale),
    exists (select from qwf.sleepers l where l.queue = p_queue)
    into max_value_bytes, served, asleep
  from qwf.queues q cross join qwf.settings s
  where q.name = p_queue;
  if not found then
    perform _qwf.raise_unknown_queue(p_queue, p_where);
  end if;
end $$;

commit;
