-- Deploy qwf:functions/claim/_index_entries_walked
-- Purpose: How much of an index has been walked, so that a claim can tell how long its walk was
--   without trusting a clock: on a busy machine any statement takes milliseconds.
-- Guarantees: Only differences within a transaction mean anything. Always 0 where track_counts is
--   off; autovacuum needs it, too.
-- Called by: _keep_floor, _rest_when_idle, _pick_next.

begin;

create function _qwf.index_entries_walked(p_index regclass) returns bigint
language sql volatile
as $$
  select pg_catalog.pg_stat_get_xact_tuples_returned(p_index)
$$;

commit;
