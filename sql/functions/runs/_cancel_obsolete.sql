-- Deploy qwf:functions/runs/_cancel_obsolete
-- Purpose: Cancels obsolete nodes, and notifies the workers of running ones.
-- Guarantees: Never waits, as its caller may hold jobs. A node that is locked at this moment (by a
--   claim or a promotion) is tried again: a stop event stays in the outbox until nothing is left.
-- Locks: jobs of the runs (by id) that are free.
-- Notifies: workers that run a node of these runs: cancel.
-- Called by: _apply_events, _retry_or_poison_events.

begin;

create function _qwf.cancel_obsolete(p_runs bigint[]) returns setof _qwf.event
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_material = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_free bigint[];
begin
  v_free := _qwf.lock_obsolete(p_runs);  -- before the update takes its snapshot
  return query
  update qwf.jobs j set status = 'cancelled', finished_at = v_now
  from (select f.id, f.status from qwf.jobs f where f.id = any (v_free)) was
  where j.id = was.id
  returning j.run_id, j.id, case was.status
    when 'blocked' then 'cut' when 'awaiting_input' then 'withdrawn' else 'cancelled' end;
  delete from qwf.waits w where w.job_id = any (v_free);
  -- a node that began to ask after its run's events were taken: its question is withdrawn too
  return query
  delete from qwf.outbox o
  where o.run_id = any (p_runs) and (o.kind = 'asked' and o.job_id = any (v_free)
    or o.kind = 'ready' and exists (  -- written by _wake_compensations
      select from qwf.jobs j where j.id = o.job_id and j.run_if = 'compensates'))
  returning o.run_id, o.job_id, o.kind;

  insert into qwf.outbox (run_id, kind)
  select distinct j.run_id, 'stop'
  from qwf.jobs j
  where j.run_id = any (p_runs)
    and (j.status in ('blocked', 'scheduled', 'queued', 'awaiting_input')
      -- an older snapshot may show a node as running that has been requeued since
      or (j.status = 'running' and current_setting('transaction_isolation') <> 'read committed'))
    and _qwf.is_obsolete(j.run_id, j.run_if, j.parent_id)
    and not exists (
      select from qwf.outbox o
      where o.run_id = j.run_id and o.kind = 'stop' and o.poisoned_at is null);

  perform pg_notify(qwf.wake_channel(w.worker), 'cancel')
  from (
    select distinct j.claimed_by as worker
    from qwf.jobs j
    where j.run_id = any (p_runs) and j.status = 'running'
      and _qwf.is_obsolete(j.run_id, j.run_if, j.parent_id)
  ) w;
end $$;

commit;
