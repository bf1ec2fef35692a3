-- Deploy qwf:functions/claim/_lock_free_slots
-- Purpose: Locks at most p_count free slots of a limit.
-- Guarantees: At most max_running slots are held, by running jobs and by claims that have not
--   committed: a slot is a row, and rivals skip a locked one. After a limit was lowered, each job
--   that runs above it leaves one free slot unused.
-- Locks: free slots of the limit that nobody else has locked.
-- Called by: claim, _lock_limit_slots.

begin;

create function _qwf.lock_free_slots(p_limit text, p_count int) returns qwf.limit_slots[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_max int;
  v_above int;
  v_slots qwf.limit_slots[];
begin
  select l.max_running, (
      select count(*) from qwf.limit_slots a
      where a.limit_name = l.name and a.slot > l.max_running and a.job_id is not null)
    into v_max, v_above
  from qwf.limits l
  where l.name = p_limit;
  if not found then
    return '{}';
  end if;
  v_slots := array(
    select s
    from qwf.limit_slots s
    where s.limit_name = p_limit and s.slot <= v_max and s.job_id is null
    order by s.slot
    limit p_count + v_above
    for no key update skip locked);
  return v_slots[1 : cardinality(v_slots) - v_above];
end $$;

commit;
