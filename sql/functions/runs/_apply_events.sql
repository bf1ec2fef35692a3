-- Deploy qwf:functions/runs/_apply_events
-- Purpose: Applies events to runs: ends runs, opens nodes that became ready, cascades skips,
--   counts. The heart of fan-out.
-- Guarantees: Set-based: cost grows with the events and the nodes they open, not with the runs. It
--   repeats until no further node has ended: a skip, a failure at opening and the end of a map have
--   consequences of their own. Obsolete nodes are cancelled before any node is opened.
-- Locks: the caller has locked the runs; takes jobs of those runs: blocked ones, which no other
--   transaction touches, and queued ones that are free.
-- Notifies: sleepers of the queues that got work; workers that have to stop.
--   Returns true if something that follows for another run waits in the outbox. A run that ends
--   is reported to the step that it is, and runs that may start do, at the end: then no counter of
--   these runs is held back any more. These are the only calls from a room to a later one: a run is
--   a job of the run above it, so what ends a run ends an attempt, and what queues a job may start
--   a run.
-- Called by: every function that ends, opens or stops nodes of a run.

begin;

create function _qwf.apply_events(p_events _qwf.event[]) returns boolean
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
  v_is_plain boolean;
  v_sorted _qwf.sorted_events;
  v_ready bigint[];
  v_stop bigint[];
  v_next _qwf.advanced;
  v_over bigint[];
  v_again bigint[];
  v_waits boolean;
begin
  while cardinality(v_events) > 0 or cardinality(v_opened) > 0 or cardinality(v_counts) > 0 loop
    v_ready := null;
    select bool_and(e.kind = 'completed'), array_agg(e.job_id),
      array_agg((e.run_id, 1, -1, 0, 0, true)::_qwf.node_count)  -- as _counter_changes counts them
      into v_is_plain, v_ended, v_new
    from unnest(v_events) e;
    if v_opened = '{}' and v_is_plain is not false then  -- the usual case
      v_events := '{}';
    else
      v_new := array(select c from _qwf.counter_changes(v_events, v_opened) c);
      v_sorted := _qwf.sort_events(v_events, v_opened);
      v_ended := v_sorted.ended;
      v_ready := v_sorted.ready;
      v_stop := v_sorted.stop;
      if v_sorted.failed is not null then
        v_stop := v_stop || _qwf.end_failed_runs(v_sorted.failed, v_ended);
      end if;
      v_events := '{}';
      if cardinality(v_stop) > 0 then
        v_stop := v_stop || _qwf.stop_children(v_stop, v_ended);
        v_over := v_over || v_stop;
        v_events := array(select s from _qwf.cancel_obsolete(v_stop) s);
      end if;
    end if;
    v_next := _qwf.advance_runs(
      v_counts || v_new, v_ended, v_events = '{}' and v_ready is null);
    v_over := v_over || v_next.over;
    v_again := v_again || v_next.again;
    exit when v_next.counts is null;
    v_counts := v_next.counts;
    v_ready := v_ready || v_next.ready;
    v_opened := case when v_next.elements is not null  -- in this order: see _advance_runs
        then array(select o from _qwf.settle_maps(v_next.elements) o) else '{}' end
      || case when v_ready is not null
        then array(select o from _qwf.open_guarded(v_ready) o) else '{}' end;
  end loop;
  if v_over is null and v_again is null
    and coalesce(current_setting('qwf.runs_due', true), '') = ''
  then
    return false;  -- the usual case
  end if;
  if v_again is not null then
    perform _qwf.go_on(v_again);
  end if;
  v_over := v_over || v_again;
  v_waits := v_over is not null and _qwf.report_runs(v_over);
  if current_setting('qwf.runs_due', true) <> '' then
    perform _qwf.serve_runs(500);
  end if;
  return v_waits;
end $$;

commit;
