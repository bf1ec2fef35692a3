-- Deploy qwf:functions/runs/_take_events
-- Purpose: Deletes and returns the outbox events of runs the caller has locked.
-- Guarantees: Deleted in the caller's transaction: an event is applied once, or is still there.
--   Poisoned events stay.
-- Locks: the events; only the holder of a run's lock deletes its events.
-- Called by: every function that applies events to runs it has locked.

begin;

create function _qwf.take_events(p_runs bigint[]) returns _qwf.event[]
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_material = off
set jit = off
as $$
declare
  v_events _qwf.event[];
begin
  with taken as (
    delete from qwf.outbox o
    where o.run_id = any (p_runs)
      and coalesce(o.poisoned_at, 'infinity') = 'infinity'  -- written so as not to use outbox_due
    returning o.id, (o.run_id, o.job_id, o.kind)::_qwf.event as event
  )
  select coalesce(array_agg(t.event order by t.id), '{}') into v_events from taken t;
  return v_events;
end $$;

commit;
