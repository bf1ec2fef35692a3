-- Deploy qwf:functions/claim/_head_waited
-- Purpose: Returns how long the first job that this worker could take has been queued.
-- Guarantees: Locks nothing. A limited job counts only if there is a permit for it.
-- Called by: _pick, _wanted_permits.

begin;

create function _qwf.head_waited(
  p_queue text, p_worker qwf.workers, p_now timestamptz, p_limited bigint[])
returns interval
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select p_now - j.queued_at
    from (
      select f.* from _qwf.peek(p_queue, null, p_worker, p_now, 1, false) f
      union all
      select l.* from qwf.jobs l where l.id = any (p_limited)
    ) j
    order by j.run_next desc, j.priority, j.position
    limit 1);
end $$;

commit;
