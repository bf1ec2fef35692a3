-- Deploy qwf:functions/usual/_add_totals
-- Purpose: Adds events, and the runs that ended by them, to the totals that the metrics show.
-- Guarantees: Each event counts once: the last number that was learned moves in the same
--   transaction.
-- Locks: the rows of the totals; the caller has locked the row of _qwf.judged.
-- Called by: _learn_runs.

begin;

create function _qwf.add_totals(p_from bigint, p_last bigint, p_ended _qwf.past_run[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
begin
  insert into _qwf.event_totals as t (kind, count, failed_alerts)
  select e.kind, count(*), count(*) filter (where e.kind = 'alert_failed' or e.names ? 'alert'
    and (e.kind = 'job_failed' or e.kind = 'run_ended' and e.detail ->> 'status' = 'failed'))
  from _qwf.event_log e
  where e.seq > p_from and e.seq <= p_last
  group by e.kind
  on conflict (kind) do update set
    count = t.count + excluded.count, failed_alerts = t.failed_alerts + excluded.failed_alerts;
  insert into _qwf.run_totals as t (workflow, status, count, seconds, edges)
  select e.workflow, e.status, count(*), sum(e.seconds),
    _qwf.edge_counts(_qwf.histogram(array_agg(e.seconds)))
  from unnest(p_ended) e
  where e.status is not null and e.seconds is not null
  group by e.workflow, e.status
  on conflict (workflow, status) do update set
    count = t.count + excluded.count, seconds = t.seconds + excluded.seconds,
    edges = _qwf.add_histograms(t.edges, excluded.edges);
end $$;

commit;
