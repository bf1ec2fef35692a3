-- Deploy qwf:functions/runs/_lock_runs
-- Purpose: Locks runs. A function that changes runs calls it first.
-- Guarantees: Locks in the order of ids. A caller that already holds jobs must not wait and does
--   not call it (see _after_ends).
-- Locks: runs, by id.
-- Called by: every function that changes runs.

begin;

create function _qwf.lock_runs(p_runs bigint[]) returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
begin
  return array(
    select r.id from qwf.runs r where r.id = any (p_runs)
    order by r.id
    for no key update);
end $$;

commit;
