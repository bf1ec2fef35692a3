-- The end of a run: completed, failed, cancelled or overdue. Locks: the runs, which the caller
-- has locked; overdue ones only if they are free.

-- Decides how a live run ends if it does not complete: failed or cancelled. The first decision
-- stands. A run with clean-up nodes that have not ended keeps running until they have, unless
-- none of its nodes ever started; with p_at_once it ends without them. So it does with
-- compensation nodes, which it wakes. A run in line keeps its place until its bodies have ended,
-- too; one that waits there and has something to take back goes on waiting (see _resume_child).
-- p_ended: nodes whose end the caller has yet to subtract. A run that is over counts no node as
-- open. Writes the event of a run that ends.
-- Locks: the caller has locked the run.
create function _qwf.end_run(
  p_run bigint, p_status qwf.run_status, p_error text, p_at_once boolean default false,
  p_ended bigint[] default '{}')
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_found boolean;
  v_place qwf.job_status := (  -- null: it is not in line
    select j.status from qwf.runs r join qwf.jobs j on j.id = r.parent_id and j.run_id is null
    where r.id = p_run);
  v_waits boolean := coalesce(v_place in ('queued', 'scheduled'), false);
  v_woken _qwf.node_count := case when not p_at_once
    then _qwf.wake_compensations(p_run, p_ended, v_waits) end;
  v_clean_up boolean := not p_at_once and (v_woken is not null
    or exists (  -- not r.started_at: a claim sets it only if the run is not locked
      select from qwf.jobs j where j.run_id = p_run and j.attempt > 0)
    and exists (
      select from qwf.jobs j
      where j.run_id = p_run and (j.run_if is not null or v_place = 'running')
        and j.finished_at is null));
begin
  with written as (
    update qwf.runs r set
      status = case when not v_clean_up then coalesce(r.ending, p_status)
        when v_waits then r.status else 'running' end,
      ending = coalesce(r.ending, case when v_clean_up then p_status end),
      error = coalesce(r.error, p_error), then_retry = null,
      started_at = case when not v_waits or not v_clean_up
        then coalesce(r.started_at, v_now) end,
      finished_at = case when not v_clean_up then v_now end,
      open_nodes = case when v_clean_up
        then r.open_nodes - coalesce(v_woken.closed, 0) else 0 end,
      active_nodes = case when v_clean_up
        then r.active_nodes + coalesce(v_woken.active, 0) else 0 end,
      waiting_nodes = case when v_clean_up then r.waiting_nodes else 0 end
    where r.id = p_run and r.finished_at is null and (r.ending is null or p_at_once)
    returning r.id, r.workflow, r.status, r.started_at, r.finished_at, r.error, r.parent_id
  ), ended as (
    insert into _qwf.event_log (at, run_id, kind, subject, detail)
    select w.finished_at, w.id, _qwf.end_kind(w.status, w.parent_id), w.workflow,
      _qwf.run_ended(w.status, w.started_at, w.finished_at, w.error, w.parent_id)
        || _qwf.not_taken_back(w.id, w.status)
    from written w
    where w.finished_at is not null
  )
  select count(*) > 0 into v_found from written w;
  return v_found;
end $$;

-- Wakes the compensation nodes of a run that begins to end badly: those of nodes that have
-- completed, or may complete because their bodies still run. Returns the change of the run's
-- counters; null if there is nothing to undo, or its end was decided before. A node waits for
-- what follows from the nodes that it undoes: for each that has not ended, or whose end is yet
-- to be subtracted. If nothing is left to wait for, a ready event opens it, which
-- _cancel_obsolete takes along. p_waits: the run waits in line, and nothing changes yet.
-- Locks: the caller has locked the run; sleeping compensation nodes, which nobody else locks.
create function _qwf.wake_compensations(p_run bigint, p_ended bigint[], p_waits boolean)
returns _qwf.node_count
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_woken bigint[];
  v_ready int;
begin
  if not exists (
    select from qwf.runs r join qwf.graphs g on g.id = r.graph_id
    where r.id = p_run and r.finished_at is null and r.ending is null and r.then_retry is null
      and g.compensation_count > 0)
  then
    return null;  -- the usual case
  end if;
  v_woken := array(
    select j.id
    from qwf.runs r
    join qwf.graph_nodes n on n.graph_id = r.graph_id
    join qwf.jobs j on j.run_id = r.id and j.node_idx = n.idx
    where r.id = p_run and n.compensates is not null and j.status = 'skipped' and exists (
        select from qwf.graph_nodes t
        join qwf.jobs d on d.run_id = r.id and d.node_idx = t.idx
        where t.graph_id = r.graph_id and t.node_id = any (n.compensates)
          and (d.status not in ('blocked', 'skipped', 'failed', 'cancelled')
            or d.elements is not null and t.repeat is null and exists (  -- a map
              select from qwf.jobs e
              where e.parent_id = d.id
                and e.status not in ('blocked', 'skipped', 'failed', 'cancelled')))));
  if v_woken = '{}' then
    return null;
  elsif p_waits then
    return (p_run, 0, 0, 0, 0, false)::_qwf.node_count;
  end if;
  update qwf.jobs j set status = 'blocked', finished_at = null where j.id = any (v_woken);
  with waiting as (
    update qwf.jobs j set remaining_deps = (
      select count(*)
      from qwf.graph_edges e join qwf.jobs d on d.run_id = p_run and d.node_idx = e.from_idx
      where e.graph_id = j.graph_id and e.to_idx = j.node_idx
        and (d.finished_at is null or d.elements is not null and d.remaining_deps > 0
          or d.id = any (p_ended) or exists (
            select from qwf.outbox o
            where o.run_id = p_run and o.job_id = d.id and o.poisoned_at is null
              and o.kind in ('completed', 'failed', 'cancelled'))))
    where j.id = any (v_woken)
    returning j.id, j.remaining_deps
  ), ready as (
    insert into qwf.outbox (run_id, job_id, kind)
    select p_run, w.id, 'ready' from waiting w where w.remaining_deps = 0
    returning 1
  )
  select count(*) into v_ready from ready;
  return (p_run, - cardinality(v_woken), v_ready, 0, 0, false)::_qwf.node_count;
end $$;

-- Ends the runs in which a node failed or was cancelled. The first such node gives the reason.
-- Elements are left to their map, and a node with on_failure continue does not end its run. Runs
-- that are over or ending do not change. Of its error, the run keeps the line that tells most.
-- Locks: the caller has locked the runs.
create function _qwf.end_failed_runs(p_jobs bigint[], p_ended bigint[]) returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_material = off
set jit = off
as $$
declare
  v_cause record;
  v_runs bigint[];
begin
  for v_cause in
    select distinct on (j.run_id) j.run_id, j.node_id, j.status,
      _qwf.error_line(j.last_error) as error
    from unnest(p_jobs) d (id) join qwf.jobs j on j.id = d.id
    where j.parent_id is null
      and (j.status = 'cancelled' or (j.status = 'failed' and j.on_failure <> 'continue'))
    order by j.run_id, j.finished_at, j.id
  loop
    if _qwf.end_run(v_cause.run_id, v_cause.status::text::qwf.run_status,
      format('%s %s', v_cause.node_id, case v_cause.status
        when 'failed' then 'failed: ' || v_cause.error else 'was cancelled' end),
      p_ended => p_ended)
    then
      v_runs := v_runs || v_cause.run_id;
    end if;
  end loop;
  return v_runs || array(  -- a map that ended early: its other elements stop
    select distinct j.run_id
    from unnest(p_jobs) d (id) join qwf.jobs j on j.id = d.id
    where j.elements is not null and j.status in ('failed', 'cancelled'));
end $$;

-- Fails runs that passed their deadline. The remaining nodes stop as after a failed node, and
-- clean-up nodes run: the drain of the same tick applies the stop event written here. A run that
-- is hard to stop delays no other. Bounded; a locked run is left for the next call. Reads
-- overdue runs alone, however many are live.
-- Locks: overdue runs that are free, the longest overdue first.
create function _qwf.fail_overdue_runs() returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_run record;
  v_count int := 0;
begin
  for v_run in
    select r.id, r.deadline_at from qwf.runs r
    where r.deadline_at <= v_now and r.ending is null
      and r.status in ('queued', 'running', 'awaiting_input')
    order by r.deadline_at
    limit 100
    for no key update skip locked
  loop
    perform _qwf.end_run(
      v_run.id, 'failed', format('the deadline passed at %s', v_run.deadline_at));
    insert into _qwf.event_log (at, run_id, kind, detail)
    values (v_now, v_run.id, 'deadline',
      jsonb_build_object('deadline_at', v_run.deadline_at));
    insert into qwf.outbox (run_id, kind) values (v_run.id, 'stop');
    v_count := v_count + 1;
  end loop;
  return v_count;
end $$;
