-- Deploy qwf:functions/queues/_store_limit
-- Purpose: Writes a limit and its slots.
-- Guarantees: Never waits for a claim: a free slot above max_running that somebody has locked
--   stays, but is not handed out any more.
-- Locks: the limit, then its free slots above max_running that nobody has locked.
-- Notifies: sleepers of the queues where jobs wait for the limit.
-- Called by: create_limit, create_queue.

begin;

create function _qwf.store_limit(p_name text, p_max_running int) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into qwf.limits as l (name, max_running)
  values (p_name, p_max_running)
  on conflict (name) do update set max_running = excluded.max_running;
  insert into qwf.limit_slots (limit_name, slot)
  select p_name, n from generate_series(1, p_max_running) n
  where not exists (  -- on conflict would wait for a claim that has the slot
    select from qwf.limit_slots s where s.limit_name = p_name and s.slot = n);
  delete from qwf.limit_slots s
  using (
    select f.slot
    from qwf.limit_slots f
    where f.limit_name = p_name and f.slot > p_max_running and f.job_id is null
    for update skip locked
  ) free
  where s.limit_name = p_name and s.slot = free.slot;
  perform _qwf.wake_for_limit(p_name, p_max_running);
end $$;

commit;
