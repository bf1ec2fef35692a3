-- Deploy qwf:functions/_walked
-- requires: schema/jobs
-- Purpose: How much of the claim index has been walked, so that a claim can tell how long its walk
--   was without trusting a clock: on a busy machine any statement takes milliseconds.
-- Guarantees: Only differences within a transaction mean anything. Always 0 where track_counts is
--   off; autovacuum needs it, too.
-- Called by: _pick_next, _keep_floor.

begin;

create function qwf._walked() returns bigint
language sql volatile
as $$
  select pg_catalog.pg_stat_get_xact_tuples_returned('qwf.jobs_claim'::pg_catalog.regclass)
$$;
comment on function qwf._walked() is
  'Entries of jobs_claim that scans of this transaction have come to, dead ones included.';
revoke all on function qwf._walked() from public;

commit;
