-- Deploy qwf:functions/queues/_release_slots
-- Purpose: Frees the slots of jobs whose attempt ended.
-- Guarantees: Runs in the transaction that ends the attempts, so that a job holds its slot exactly
--   while it runs. Never deletes a slot, even of a dropped limit: somebody may be creating a limit
--   of that name and count on the slot.
-- Locks: the slots of these jobs.
-- Notifies: sleepers of the queues where jobs wait for the slots.
-- Called by: _after_ends.

begin;

create function _qwf.release_slots(p_jobs bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_freed record;
begin
  for v_freed in
    with freed as (
      update qwf.limit_slots s set job_id = null
      where s.job_id = any (p_jobs)
      returning s.limit_name
    )
    select f.limit_name as name, count(*)::int as slots from freed f group by f.limit_name
  loop
    perform _qwf.wake_for_limit(v_freed.name, v_freed.slots);
  end loop;
end $$;

commit;
