-- Deploy qwf:functions/_stop_nodes
-- requires: schema/jobs
-- requires: schema/outbox
-- requires: functions/_lock_stoppable
-- requires: functions/wake_channel
-- requires: functions/now
-- Purpose: Cancels what is left of runs that are over, and tells the workers of running bodies.
-- Guarantees: Waits for nobody, as its caller may hold jobs. A node that somebody has locked just
--   now (a claim, a promotion) is looked at again: a stop event stays in the outbox until nothing
--   is left.
-- Locks: jobs of the runs (by id), where they are free.
-- Notifies: workers that run a node of these runs: cancel.
-- Called by: _end_runs, _apply, cancel_run.

begin;

create function qwf._stop_nodes(p_runs bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_free bigint[];
begin
  if cardinality(p_runs) = 0 then
    return;
  end if;
  v_free := qwf._lock_stoppable(p_runs);  -- before the update takes its snapshot
  update qwf.jobs j set status = 'cancelled', finished_at = v_now
  where j.id = any (v_free);

  insert into qwf.outbox (run_id, kind)
  select distinct j.run_id, 'stop'
  from qwf.jobs j
  where j.run_id = any (p_runs)
    -- an older snapshot may show a node running that has been given back since
    and (j.status in ('blocked', 'scheduled', 'queued', 'awaiting_input')
      or current_setting('transaction_isolation') <> 'read committed')
    and not exists (
      select from qwf.outbox o
      where o.run_id = j.run_id and o.kind = 'stop' and o.poisoned_at is null);

  perform pg_notify(qwf.wake_channel(w.worker), 'cancel')
  from (
    select distinct j.claimed_by as worker
    from qwf.jobs j
    where j.run_id = any (p_runs) and j.status = 'running'
  ) w;
end $$;
comment on function qwf._stop_nodes(bigint[]) is
  'Cancels the nodes of ended runs that do not run, and sends the workers of those that do a '
  'NOTIFY.';
revoke all on function qwf._stop_nodes(bigint[]) from public;

commit;
