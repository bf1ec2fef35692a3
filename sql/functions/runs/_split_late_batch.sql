-- Deploy qwf:functions/runs/_split_late_batch
-- Purpose: Halves a batch of runs whose events together exceed a statement timeout.
-- Guarantees: Only a run that exceeds it alone counts a try. No run waits behind another forever:
--   the later half waits for as long as its oldest event has waited so far, which in the end is
--   longer than the time from one drain to the next, even if drains are rare.
-- Locks: the caller has locked the runs.
-- Called by: drain_outbox.

begin;

create function _qwf.split_late_batch(p_runs bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
begin
  if cardinality(p_runs) = 1 then
    perform _qwf.retry_or_poison_events(
      p_runs[1], '57014', 'it took longer than statement_timeout');
    return;
  end if;
  update qwf.outbox o set
    next_try_at = v_now + case when k.n * 2 > cardinality(p_runs)
      then greatest(v_now - k.since, interval '1 s') else interval '0 s' end
  from (
    select u.run_id, u.n, (
        select min(w.created_at) from qwf.outbox w
        where w.run_id = u.run_id and coalesce(w.poisoned_at, 'infinity') = 'infinity') as since
    from unnest(p_runs) with ordinality u (run_id, n)
  ) k
  where o.run_id = k.run_id and o.poisoned_at is null;
end $$;

commit;
