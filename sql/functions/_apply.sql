-- Deploy qwf:functions/_apply
-- requires: schema/types
-- requires: functions/_end_runs
-- requires: functions/_stop_nodes
-- requires: functions/_open_dependants
-- requires: functions/_open_guarded
-- requires: functions/_count_nodes
-- requires: functions/now
-- Purpose: Applies events to runs: ends runs, opens what became ready, cascades skips, counts. The
--   heart of fan-out.
-- Guarantees: Set-based: cost grows with the events and the nodes they open, not with the runs. A
--   skip is a satisfied dependency and goes round again.
-- Locks: expects the runs locked by the caller; takes jobs of those runs: blocked ones, which
--   nobody else touches, and queued ones where they are free.
-- Notifies: sleepers of the queues that got work; workers that have to stop.
-- Called by: _dispatch, drain_outbox, enqueue_run, submit_input, cancel_job.

begin;

create function qwf._apply(p_events qwf.event[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  v_live bigint[];
  v_satisfied bigint[];
  v_ready bigint[];
  v_opened qwf.opened[];
  v_failed qwf.event[];
  v_counts qwf.node_count[];
begin
  if coalesce(cardinality(p_events), 0) = 0 then
    return;
  end if;
  perform qwf._end_runs(p_events);
  perform qwf._stop_nodes(array(
    select distinct e.run_id from unnest(p_events) e join qwf.runs r on r.id = e.run_id
    where r.finished_at is not null and e.kind in ('requeued', 'ready', 'stop')));
  v_live := array(
    select distinct r.id from unnest(p_events) e join qwf.runs r on r.id = e.run_id
    where r.finished_at is null);
  select
    array_agg(e.job_id) filter (where e.kind <> 'ready'),
    array_agg(e.job_id) filter (where e.kind = 'ready'),
    array_agg((e.run_id, (e.kind <> 'ready')::int, -(e.kind <> 'answered')::int,
      -(e.kind = 'answered')::int, 0, e.kind <> 'ready')::qwf.node_count)
    into v_satisfied, v_ready, v_counts
  from unnest(p_events) e
  where e.run_id = any (v_live) and e.kind in ('completed', 'answered', 'ready');

  while v_satisfied is not null or v_ready is not null loop
    v_opened := array(select o from qwf._open_dependants(v_satisfied) o);
    v_ready := v_ready || array(select o.id from unnest(v_opened) o where o.status = 'blocked');
    v_opened := v_opened || array(select o from qwf._open_guarded(v_ready) o);
    select
      v_counts || array_agg((o.run_id, (o.status = 'skipped')::int, (o.status = 'queued')::int,
        (o.status = 'awaiting_input')::int, 0, false)::qwf.node_count),
      v_failed
        || array_agg((o.run_id, o.id, 'failed')::qwf.event) filter (where o.status = 'failed'),
      array_agg(o.id) filter (where o.status = 'skipped'),
      null::bigint[]
      into v_counts, v_failed, v_satisfied, v_ready
    from unnest(v_opened) o;
  end loop;
  perform qwf._count_nodes(v_counts);
  perform qwf._end_runs(v_failed);
end $$;
comment on function qwf._apply(qwf.event[]) is
  'Applies events to runs the caller has locked: readiness, skips, inputs, failures, counters, and '
  'the end of the run.';
revoke all on function qwf._apply(qwf.event[]) from public;

commit;
