-- Deploy qwf:functions/shared/_try_lock
-- Purpose: Takes one of the locks of the engine until the end of the transaction, unless somebody
--   else has it.
-- Locks: the row of the lock, tried only.
-- Called by: _record_minutes, _roll_up_counts, tick.

begin;

create function _qwf.try_lock(p_name text) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform from _qwf.locks l where l.name = p_name for no key update skip locked;
  return found;
end $$;

commit;
