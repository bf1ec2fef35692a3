-- Deploy qwf:functions/walks/_index_entries_walked
-- Purpose: Returns how many entries of an index this transaction has read. A walk is measured by it
--   and not by the clock, because on a busy machine any statement can take milliseconds.
-- Guarantees: Only differences within a transaction mean anything. Always 0 if track_counts is off,
--   which autovacuum needs on as well.
-- Called by: _find_floors, _rest_when_idle.

begin;

create function _qwf.index_entries_walked(p_index regclass) returns bigint
language sql volatile
as $$
  select pg_catalog.pg_stat_get_xact_tuples_returned(p_index)
$$;

commit;
