-- Deploy qwf:functions/queues/_store_slots
-- Purpose: Writes the slots of a limit.
-- Guarantees: Never waits for a claim: a free slot above max_running that somebody has locked
--   stays, but is not handed out any more.
-- Locks: free slots of the limit above max_running that nobody has locked.
-- Called by: create_limit, _limit_queue.

begin;

create function _qwf.store_slots(p_name text, p_max_running int) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
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
end $$;

commit;
