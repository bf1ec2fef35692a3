-- Deploy qwf:functions/hints/_has_committed
-- Purpose: True if the transaction that set a hint in a sequence has committed, or is this one. A
--   rollback does not take such a hint back.
-- Guarantees: Never raises: a number that this server has not given out yet, as after a restore,
--   counts as not committed.
-- Called by: _last_complete_tick, _roll_up_statistics.

begin;

create function _qwf.has_committed(p_xid bigint) returns boolean
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  select case
    when p_xid::text = pg_current_xact_id_if_assigned()::text then true
    when p_xid >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint then false
    else coalesce(pg_xact_status(p_xid::text::xid8) = 'committed', false)
  end
$$;

commit;
