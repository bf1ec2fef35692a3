-- Counters of nodes and runs, and the nodes that they make ready. Locks: runs, by id; their
-- blocked jobs.

-- Returns what events and opened nodes change in the counters of their runs. The only table of
-- what each kind of event counts; _apply_events repeats the row of completed. An opened node was
-- blocked, and counted neither as active nor as waiting. A map that was expanded adds its
-- elements.
create function _qwf.counter_changes(p_events _qwf.event[], p_opened _qwf.opened[])
returns setof _qwf.node_count
language sql stable
as $$
  select e.run_id,
    (e.kind not in ('requeued', 'asked', 'ready', 'retried', 'stop'))::int,  -- the rest: terminal
    case
      when e.kind in ('completed', 'failed', 'cancelled', 'asked', 'ready') then -1  -- was active
      when e.kind = 'retried' then 1
      else 0
    end,
    case
      when e.kind in ('answered', 'passed', 'aborted', 'withdrawn', 'retried') then -1  -- was asked
      when e.kind = 'asked' then 1
      else 0
    end,
    case when e.kind = 'failed' then (
      select (j.on_failure = 'continue' and j.parent_id is null)::int
      from qwf.jobs j where j.id = e.job_id) else 0 end,
    case when e.kind = 'cancelled' then (  -- a queued node, such as an element, may never have run
      select j.attempt > 0 from qwf.jobs j where j.id = e.job_id)
      else e.kind not in ('ready', 'cut', 'stop') end
  from unnest(p_events) e
  union all
  select o.run_id,
    (o.status in ('completed', 'failed', 'skipped'))::int + coalesce((o.elements).closed, 0),
    (o.status in ('queued', 'scheduled'))::int + coalesce((o.elements).active, 0),
    (o.status = 'awaiting_input')::int + coalesce((o.elements).waiting, 0),
    case when o.status = 'failed' then (
      select (j.on_failure = 'continue' and j.parent_id is null)::int
      from qwf.jobs j where j.id = o.id) else 0 end,
    false
  from unnest(p_opened) o
$$;

-- Subtracts satisfied dependencies, queues the nodes that have none left, and writes the
-- counters and status of the runs. The only writer of the counters of a live run (_reopen_run
-- recounts after a retry), and the only place where one completes (_end_run ends it otherwise).
-- One update per run, however many events: counts are returned, not written, if this is not the
-- last step (p_last) or leaves a node to open or a map to settle. If a node failed without
-- on_failure continue, only clean-up nodes are still blocked: for those every end counts.
-- Locks: blocked jobs of runs the caller has locked.
-- Notifies: sleepers of the queues that got work.
create function _qwf.advance_runs(p_counts _qwf.node_count[], p_ended bigint[], p_last boolean)
returns _qwf.advanced
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_memoize = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_material = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_advanced _qwf.advanced;
  v_over bigint[];
  v_queues text[];
begin
  with ended as materialized (
    select j.id, j.run_id, j.graph_id, j.node_idx, j.parent_id,
      -- a map that ended early counts in the round after _settle_maps returns it
      j.elements is null or j.remaining_deps = 0 as satisfies
    from qwf.jobs j where j.id = any (p_ended)
  ), dependant as materialized (
    select e.run_id, g.to_idx, count(*)::int as satisfied
    from ended e join qwf.graph_edges g on g.graph_id = e.graph_id and g.from_idx = e.node_idx
    where e.satisfies and (select r.finished_at from qwf.runs r where r.id = e.run_id) is null
    group by e.run_id, g.to_idx
    order by e.run_id, g.to_idx
  ), counted as (
    update qwf.jobs j set
      remaining_deps = b.remaining,
      status = case when b.opens then 'queued' else j.status end,
      position = case when b.opens then _qwf.next_position() end,
      queued_at = case when b.opens then v_now end
    from dependant d
    cross join lateral (  -- offset 0 forces the index; nothing else changes a blocked row
      select k.ctid as row, k.remaining_deps - d.satisfied as remaining,
        k.remaining_deps = d.satisfied and not k.guarded as opens
      from qwf.jobs k
      where k.run_id = d.run_id and k.node_idx = d.to_idx and k.status = 'blocked' offset 0) b
    where j.ctid = b.row
    returning j.id, j.run_id, b.remaining, case when b.opens then j.queue end as queue
  ), next as materialized (  -- what is queued has a queue
    select c.id, c.run_id, c.queue, false as is_element from counted c where c.remaining = 0
    union all
    select e.id, e.run_id, null, true from ended e where e.parent_id is not null
  ), change as materialized (
    select c.run_id, sum(c.closed)::int as closed, sum(c.active)::int as active,
      sum(c.waiting)::int as waiting, sum(c.failed)::int as failed, bool_or(c.started) as started,
      bool_and(c.is_last) as is_last
    from (
      select *, p_last as is_last from unnest(p_counts)
      union all
      select n.run_id, 0, (n.queue is not null)::int, 0, 0, false, n.queue is not null
      from next n) c
    group by c.run_id
  ), written as (
    update qwf.runs r set
      open_nodes = r.open_nodes - c.closed, active_nodes = r.active_nodes + c.active,
      waiting_nodes = r.waiting_nodes + c.waiting, failed_nodes = r.failed_nodes + c.failed,
      status = k.status,
      started_at = case when k.status <> 'queued' then coalesce(r.started_at, v_now) end,
      finished_at = case when k.status in ('completed', 'failed', 'cancelled') then v_now end
    from change c cross join lateral (  -- offset 0: each by its id, whatever the statistics say
      select b.ctid as row, case
          when b.open_nodes = c.closed and c.closed > 0  -- 0: it waits in line
              and b.then_retry is null
            then coalesce(b.ending, 'completed')
          when b.active_nodes + c.active = 0 and b.waiting_nodes + c.waiting > 0
            then 'awaiting_input'
          when b.status = 'queued' and not c.started then 'queued'
          else 'running'
        end::qwf.run_status as status
      from qwf.runs b where b.id = c.run_id and b.finished_at is null offset 0) k
    where c.is_last and r.ctid = k.row
    returning case when r.finished_at is not null then r.id end as over,
      case when r.open_nodes = 0 and r.then_retry is not null then r.id end as again
  )
  select
    array_agg(n.id) filter (where n.queue is null and not n.is_element),
    array_agg(n.id) filter (where n.is_element),
    (select array_agg((c.run_id, c.closed, c.active, c.waiting, c.failed, c.started
      )::_qwf.node_count) from change c where not c.is_last),
    (select array_agg(w.over) from written w where w.over is not null),
    (select array_agg(w.again) from written w where w.again is not null),
    array_agg(n.queue) filter (where n.queue is not null)
    into v_advanced.ready, v_advanced.elements, v_advanced.counts, v_over, v_advanced.again,
      v_queues
  from next n;
  if v_over is not null then
    v_advanced.over := _qwf.tell_run_ends(v_over);
  end if;
  if v_queues is not null and (
    exists (select from qwf.sleepers) or 'qwf.runs' = any (v_queues)) then
    perform _qwf.wake(q, count(*)::int) from unnest(v_queues) q group by q;
  end if;
  return v_advanced;
end $$;

-- Locks runs. A function that changes runs calls it first. Locks in the order of ids. A caller
-- that already holds jobs must not wait and does not call it (see _after_ends).
-- Locks: runs, by id.
create function _qwf.lock_runs(p_runs bigint[]) returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
begin
  return array(
    select r.id from qwf.runs r where r.id = any (p_runs)
    order by r.id
    for no key update);
end $$;
