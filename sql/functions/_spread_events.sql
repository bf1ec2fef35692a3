-- Deploy qwf:functions/_spread_events
-- requires: schema/outbox
-- requires: functions/_count_failed_drain
-- requires: functions/now
-- Purpose: Has runs drained one after another whose events together outlast a statement timeout.
-- Guarantees: Only a run that outlasts it alone counts a try; no run waits behind another for ever.
-- Locks: expects the runs locked by the caller.
-- Called by: drain_outbox.

begin;

create function qwf._spread_events(p_runs bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
begin
  if cardinality(p_runs) = 1 then
    perform qwf._count_failed_drain(p_runs[1], '57014', 'it took longer than statement_timeout');
    return;
  end if;
  update qwf.outbox o set next_try_at = v_now + (k.n - 1) * interval '100 ms'
  from unnest(p_runs) with ordinality k (run_id, n)
  where o.run_id = k.run_id and o.poisoned_at is null;
end $$;
comment on function qwf._spread_events(bigint[]) is
  'Makes the events of these runs due one run after another; counts a try where it is one run.';
revoke all on function qwf._spread_events(bigint[]) from public;

commit;
