-- Deploy qwf:functions/signals/_prune_signals
-- Purpose: Deletes signals that are no longer kept.
-- Locks: such signals that nobody else has locked.
-- Called by: prune.

begin;

create function _qwf.prune_signals(p_now timestamptz, p_max int) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
declare
  v_count int;
begin
  delete from qwf.signals s
  where s.ctid = any (array(
    select o.ctid from qwf.signals o
    where o.keep_until <= p_now order by o.keep_until limit p_max for update skip locked));
  get diagnostics v_count = row_count;
  return v_count;
end $$;

commit;
