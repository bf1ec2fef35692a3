-- Deploy qwf:functions/enqueue/_notice_unserved
-- Purpose: Tells a producer that no live worker serves the queue, or that those that do have no
--   such task, with the name that was probably meant.
-- Guarantees: Only a notice: the job waits until a worker comes. Compares the task with 200 names
--   at most.
-- Called by: enqueue, enqueue_many.

begin;

create function _qwf.notice_unserved(p_queue text, p_task text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tasks text[];
begin
  select coalesce(array_agg(distinct t), '{}') into v_tasks
  from (
    select t
    from qwf.workers w cross join qwf.settings s cross join lateral unnest(w.tasks) t
    where w.queue = p_queue and w.stopped_at is null and w.last_seen > qwf.now() - s.worker_stale
    limit 200) known;
  if v_tasks = '{}' then
    raise notice using message = format('no live worker serves queue %s', p_queue),
      hint = format('the job waits until one does: qwf agent --queue %s', p_queue);
  else
    raise notice using
      message = format('no live worker of queue %s has task %L', p_queue, left(p_task, 100)),
      hint = coalesce(_qwf.did_you_mean(p_task, v_tasks),
        'the job waits until one does: start an agent that has it, or cancel the job');
  end if;
end $$;

commit;
