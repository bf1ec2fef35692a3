-- Deploy qwf:functions/runs/_drain_run
-- Purpose: Applies the events of one run, and keeps account of events that fail.
-- Guarantees: A failing event waits 1, 2, 4 ... seconds; after the last try it is poisoned and its
--   run fails with the reason.
-- Locks: expects the run locked by the caller.
-- Called by: drain_outbox.

begin;

create function _qwf.drain_run(p_run bigint) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_material = off
set jit = off
as $$
declare
  v_events _qwf.event[];
begin
  v_events := _qwf.take_events(array[p_run]);
  perform _qwf.apply_events(v_events);
  return cardinality(v_events);
exception
  when others or query_canceled then
    perform _qwf.retry_or_poison_events(p_run, sqlstate, sqlerrm);
    return 0;
end $$;

commit;
