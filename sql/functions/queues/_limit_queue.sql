-- Deploy qwf:functions/queues/_limit_queue
-- Purpose: Keeps how many jobs of a queue may run at once as the limit queue:NAME.
-- Guarantees: Null changes nothing, or removes the limit as drop_limit does if p_new. Running jobs
--   of a queue that had no limit count.
-- Locks: as create_limit; running jobs of a queue that had no limit.
-- Notifies: sleepers of the queue, if more jobs may run now.
-- Called by: create_queue.

begin;

create function _qwf.limit_queue(p_queue text, p_max_running int, p_new boolean) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_limited boolean := exists (select from qwf.limits l where l.name = 'queue:' || p_queue);
begin
  if p_new and p_max_running is null and v_limited then
    perform qwf.drop_limit('queue:' || p_queue);
  end if;
  if p_max_running is null then
    return;
  end if;
  insert into qwf.limits as l (name, max_running) values ('queue:' || p_queue, p_max_running)
  on conflict (name) do update set max_running = excluded.max_running;
  perform _qwf.store_slots('queue:' || p_queue, p_max_running),
    _qwf.wake_for_limit('queue:' || p_queue, p_max_running);
  if not v_limited then
    perform _qwf.give_slots_to_running(p_queue);
  end if;
end $$;

commit;
