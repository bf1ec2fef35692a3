-- Deploy qwf:functions/claim/_head_waited
-- Purpose: Returns how long the first job that this worker could take has been queued.
-- Guarantees: Locks nothing. A limited job counts only if there is a permit for it. If the session
--   keeps a floor (see _keep_floor), the walk starts there.
-- Called by: _pick, _wanted_permits.

begin;

create function _qwf.head_waited(
  p_queue text, p_worker qwf.workers, p_now timestamptz, p_limited bigint[])
returns interval
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_floor _qwf.floor := _qwf.usable_floor(p_queue, p_worker);
begin
  return (
    select p_now - j.queued_at
    from (
      select f.* from _qwf.peek(p_queue, null, p_worker, p_now, 1, false) f
      where v_floor.until is null
      union all
      select f.* from _qwf.peek_above(v_floor.bands, p_queue, p_worker, p_now) f
      where v_floor.until is not null
      union all
      select l.* from qwf.jobs l where l.id = any (p_limited)
    ) j
    order by j.run_next desc, j.priority, j.position
    limit 1);
end $$;

commit;
