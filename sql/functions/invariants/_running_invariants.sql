-- Deploy qwf:functions/invariants/_running_invariants
-- Purpose: Returns the violated invariants of running jobs and of limits.
-- Guarantees: As check_invariants, but reads only the running jobs and the slots of limits, however
--   many jobs there are. The plan is pinned, because statistics taken when nothing ran lead to a
--   scan of all jobs.
-- Called by: check_invariants.

begin;

create function _qwf.running_invariants() returns table (invariant text, subject text, detail text)
language sql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set max_parallel_workers_per_gather = 0
set jit = off
as $$
  select * from _qwf.row_invariants('running')
  union all
  select * from _qwf.limit_invariants()
$$;

commit;
