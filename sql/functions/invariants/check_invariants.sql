-- Deploy qwf:functions/invariants/check_invariants
-- Purpose: Looks whether the database is healthy.
-- Guarantees: No row at any moment, under any load: it is one statement, so it sees one snapshot.
--   Reads everything: not for a loop.
-- Called by: tests, operators.

begin;

create function qwf.check_invariants() returns table (invariant text, subject text, detail text)
language sql stable security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
  select * from _qwf.run_invariants()
  union all
  select * from _qwf.job_invariants()
  union all
  select * from _qwf.row_invariants()
  union all
  select * from _qwf.limit_invariants()
$$;
comment on function qwf.check_invariants is
  'Violated invariants: which, for what, and the figures. No row on a healthy database, at any '
  'moment.';
call _qwf.allow('qwf.check_invariants', 'qwf_viewer');

commit;
