-- Deploy qwf:functions/shared/_take_lock
-- Purpose: Takes one of the locks of the engine until the end of the transaction.
-- Locks: the row of the lock, for which it waits.
-- Called by: backfill, create_schedule, register_pipeline, register_workflow.

begin;

create function _qwf.take_lock(p_name text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform from _qwf.locks l where l.name = p_name for no key update;
end $$;

commit;
