-- Deploy qwf:functions/queues/_release_slots
-- Purpose: Gives back the places of jobs whose attempt ended.
-- Guarantees: In the transaction that ends them, so that a place is held exactly while its job
--   runs. Costs one look where nothing is limited. Never removes a place, though its limit may be
--   gone: somebody may be making one of that name, who counts on it.
-- Locks: the slots of these jobs.
-- Notifies: sleepers of the queues where jobs wait for the places.
-- Called by: _end_attempts.

begin;

create function _qwf.release_slots(p_ended _qwf.ended[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_freed record;
begin
  if not exists (select from qwf.limit_slots) then
    return;
  end if;
  for v_freed in
    with freed as (
      update qwf.limit_slots s set job_id = null
      where s.job_id = any (array(select e.id from unnest(p_ended) e))
      returning s.limit_name
    )
    select f.limit_name as name, count(*)::int as places from freed f group by f.limit_name
  loop
    perform _qwf.wake_for_limit(v_freed.name, v_freed.places);
  end loop;
end $$;

commit;
