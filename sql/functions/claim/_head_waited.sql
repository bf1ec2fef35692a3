-- Deploy qwf:functions/claim/_head_waited
-- Purpose: How long the job has waited that is the next in claim order for a worker.
-- Guarantees: Looks, and locks nothing. Limited jobs count that a place was found for.
-- Called by: _pick, _wanted_limit_slots.

begin;

create function _qwf.head_waited(
  p_queue text, p_worker qwf.workers, p_now timestamptz, p_limited bigint[])
returns interval
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select p_now - j.queued_at
    from (
      select u.* from _qwf.peek(p_queue, null, p_worker, p_now, 1, false) u
      union all
      select l.* from qwf.jobs l where l.id = any (p_limited)
    ) j
    order by j.run_next desc, j.priority, j.position
    limit 1);
end $$;

commit;
