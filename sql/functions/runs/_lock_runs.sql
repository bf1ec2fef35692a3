-- Deploy qwf:functions/runs/_lock_runs
-- Purpose: Locks runs, first thing of whatever changes them.
-- Guarantees: In the order of their ids. Whoever already holds jobs must not wait (p_wait false):
--   runs held by others are left out.
-- Locks: runs, by id.
-- Called by: whatever changes runs.

begin;

create function _qwf.lock_runs(p_runs bigint[], p_wait boolean) returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
begin
  if p_wait then
    return array(
      select r.id from qwf.runs r where r.id = any (p_runs)
      order by r.id
      for no key update);
  end if;
  return array(
    select r.id from qwf.runs r where r.id = any (p_runs)
    order by r.id
    for no key update skip locked);
end $$;

commit;
