-- Deploy qwf:functions/runs/_apply_events
-- Purpose: Applies events to runs: ends runs, opens nodes that became ready, cascades skips,
--   counts. The heart of fan-out.
-- Guarantees: Set-based: cost grows with the events and the nodes they open, not with the runs. It
--   repeats until no further node has ended: a skip, a failure at opening and the end of a map have
--   consequences of their own. Obsolete nodes are cancelled before any node is opened.
-- Locks: the caller has locked the runs; takes jobs of those runs: blocked ones, which no other
--   transaction touches, and queued ones that are free.
-- Notifies: sleepers of the queues that got work; workers that have to stop.
-- Called by: every function that ends, opens or stops nodes of a run.

begin;

create function _qwf.apply_events(p_events _qwf.event[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_material = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  v_events _qwf.event[] := p_events;
  v_opened _qwf.opened[] := '{}';
  v_counts _qwf.node_count[] := '{}';
  v_new _qwf.node_count[];
  v_ended bigint[];
  v_failed bigint[];
  v_ready bigint[];
  v_stop bigint[];
  v_next _qwf.advanced;
begin
  while cardinality(v_events) > 0 or cardinality(v_opened) > 0 or cardinality(v_counts) > 0 loop
    v_ready := null;
    if v_opened = '{}'  -- the usual case
      and 'completed' = all (array(select e.kind from unnest(v_events) e))
    then
      select array_agg(e.job_id), array_agg((e.run_id, 1, -1, 0, 0, true)::_qwf.node_count)
        into v_ended, v_new  -- as _counter_changes counts them
      from unnest(v_events) e;
      v_events := '{}';
    else
      v_new := array(select c from _qwf.counter_changes(v_events, v_opened) c);
      select
        array_agg(n.id) filter (where n.ended or n.failed),
        array_agg(n.id) filter (where n.failed),
        array_agg(n.id) filter (where n.ready),
        array_agg(distinct n.run_id) filter (where n.stop)
        into v_ended, v_failed, v_ready, v_stop
      from (
        select e.job_id, e.run_id, e.kind in ('completed', 'answered', 'passed'),
          e.kind in ('failed', 'cancelled', 'aborted', 'withdrawn', 'cut'), e.kind = 'ready',
          e.kind = 'stop' or (e.kind in ('requeued', 'asked', 'ready', 'retried') and (
            select _qwf.is_obsolete(j.run_id, j.run_if, j.parent_id)
            from qwf.jobs j where j.id = e.job_id))
        from unnest(v_events) e
        union all
        select o.id, o.run_id, o.status in ('completed', 'skipped', 'cancelled'),
          o.status = 'failed', false, false
        from unnest(v_opened) o
      ) n (id, run_id, ended, failed, ready, stop);
      if v_failed is not null then
        v_stop := v_stop || _qwf.end_failed_runs(v_failed);
      end if;
      v_events := case when cardinality(v_stop) > 0
        then array(select s from _qwf.cancel_obsolete(v_stop) s) else '{}' end;
    end if;
    v_next := _qwf.advance_runs(
      v_counts || v_new, v_ended, v_events = '{}' and v_ready is null);
    exit when v_next.counts is null;
    v_counts := v_next.counts;
    v_ready := v_ready || v_next.ready;
    v_opened := case when v_next.elements is not null  -- in this order: see _advance_runs
        then array(select o from _qwf.settle_maps(v_next.elements) o) else '{}' end
      || case when v_ready is not null
        then array(select o from _qwf.open_guarded(v_ready) o) else '{}' end;
  end loop;
end $$;

commit;
