-- A retry carries out its plan. Locks: the caller has locked the run, which has ended; its
-- limit, the job it runs for, the firings that enqueued it.

-- Lets a run that is over, or that only waits for answers, go on by the plan of its retry. Acts
-- on the rows that retry_plan shows for the same arguments, read again under the run's lock. If
-- nothing of the plan runs, nothing changes, and the result is empty. What the plan takes back
-- first opens alone: the rest waits in then_retry until that has completed (see _go_on).
-- Locks: the caller has locked the run, of which no body runs.
-- Notifies: sleepers of the queues that got work.
-- Raises: QW008; QW002 if a compensation node of a run below failed, or if a body that runs at
--   most once may have run and is not in p_named.
create function _qwf.mend_run(
  p_run qwf.runs, p_graph bigint, p_context jsonb, p_from_node text,
  p_named text[] default null, p_completed text default null)
returns _qwf.planned[]
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_plan _qwf.planned[] := array(
    select p from _qwf.plan_retry(p_run, p_graph, p_context, p_from_node, p_completed) p);
  v_first bigint[] := array(select p.job_id from unnest(v_plan) p where p.verdict = 'runs first');
  v_again bigint[] := array(
    select p.job_id from unnest(v_plan) p where p.verdict = 'runs again' order by p.job_id);
  v_anew bigint[] := array(select p.job_id from unnest(v_plan) p where p.anew);
  v_resumed bigint[] := array(select p.job_id from unnest(v_plan) p where p.resumes);
  v_skipped bigint[] := array(  -- compensation nodes
    select j.id from unnest(v_plan) p join qwf.jobs j on j.id = p.job_id
    where p.verdict = 'skipped' and j.status <> 'skipped');
begin
  if not exists (select from unnest(v_plan) p where p.verdict in ('new', 'runs again')) then
    return '{}';
  end if;
  perform _qwf.refuse_below(p_run.id, v_plan, p_from_node);
  if p_named is not null then  -- else whoever asked for this retry was refused or has named it
    perform _qwf.refuse_maybe_run(p_run, p_graph, v_plan, p_from_node, p_named);
  end if;
  if p_run.parent_id is null and p_run.finished_at is not null then  -- else a worker would be told
    perform _qwf.notice_clean_up(p_run, v_again);
  end if;
  -- the run is over: its events, poisoned ones included, no longer matter
  delete from qwf.outbox o where o.run_id = p_run.id;
  delete from qwf.waits w where p_run.status = 'awaiting_input' and w.job_id = any (v_again);
  update qwf.runs r set then_retry = case when v_first <> '{}' then jsonb_strip_nulls(
      jsonb_build_object('graph_id', p_graph, 'from_node', p_from_node))
      || jsonb_build_object('context', p_context) end
  where r.id = p_run.id and (v_first <> '{}' or r.then_retry is not null);
  if v_first <> '{}' then
    perform _qwf.reset_nodes(v_first);
  else
    if p_from_node is not null then
      perform _qwf.forget_compensations(p_run.id, p_from_node);
    end if;
    -- what begins anew; a node that is written as it was goes on from its checkpoint
    delete from qwf.checkpoints c using qwf.jobs j
    where j.run_id = p_run.id and c.job_id = j.id
      and (j.node_id = p_from_node or j.id = any (v_anew || v_skipped));
    perform _qwf.move_run(p_run, p_graph, p_context), _qwf.resume_maps(v_resumed, p_from_node),
      _qwf.reset_nodes(array(select unnest(v_again) except select unnest(v_resumed))),
      _qwf.reset_nodes(v_skipped, 'skipped');
  end if;
  update qwf.jobs j set remaining_deps = (
    select count(*)
    from qwf.graph_edges e join qwf.jobs d on d.run_id = j.run_id and d.node_idx = e.from_idx
    where e.graph_id = j.graph_id and e.to_idx = j.node_idx and d.finished_at is null)
  where j.run_id = p_run.id and j.node_idx >= 0 and j.status = 'blocked' and j.elements is null;
  perform _qwf.reopen_run(p_run, _qwf.names_compensation(p_run, p_from_node));
  return v_plan;
end $$;

-- Gives a run that is over another context, and moves it to another graph of its workflow. The
-- jobs of nodes that the graph no longer has are deleted. The others get the place and the terms
-- (queue, tries, limits and so on) that the graph gives them, and so do their elements. Nodes
-- that are new are blocked; _mend_run counts what they wait for. New compensation nodes are
-- skipped.
-- Locks: the caller has locked the run, which is over.
create function _qwf.move_run(p_run qwf.runs, p_graph bigint, p_context jsonb) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_gone bigint[];
begin
  update qwf.runs r set
    graph_id = g.id, context = p_context, workflow_version = w.version, node_count = g.node_count
  from qwf.graphs g join qwf.workflows w on w.id = g.workflow_id
  where r.id = p_run.id and g.id = p_graph
    and (r.graph_id <> p_graph or r.context <> p_context);
  if p_graph = p_run.graph_id or not exists (
    select from qwf.jobs j where j.run_id = p_run.id)  -- it has waited in line since it was made
  then
    return;
  end if;
  v_gone := array(
    select j.id from qwf.jobs j left join qwf.jobs m on m.id = j.parent_id
    where j.run_id = p_run.id and not exists (
      select from qwf.graph_nodes n
      where n.graph_id = p_graph and n.node_id = coalesce(m.node_id, j.node_id)));
  perform _qwf.delete_runs_below(v_gone), _qwf.delete_jobs(v_gone);
  update qwf.jobs j set node_idx = -1 - j.node_idx  -- two steps: the index is unique
  where j.run_id = p_run.id and j.node_idx is not null;
  update qwf.jobs j set
    graph_id = p_graph, node_idx = case when j.parent_id is null then n.idx end,
    inputs = case when j.parent_id is null then n.inputs else j.inputs end,
    guarded = j.parent_id is null
      and num_nonnulls(n.skip_if, n.input_spec, n.map, n.compensates, n.delay) > 0,
    on_failure = case when j.parent_id is null or n.on_failure = 'ask' then n.on_failure
      else 'fail' end,
    queue = n.queue, task = n.task, options = n.options,
    required_model = n.required_model, light = n.light, vram_mb = n.vram_mb,
    requires = n.requires, limit_by = n.limit_by,
    limit_place = _qwf.limit_place(n.limit_by),
    run_if = n.run_if, begun = case when n.at_most_once then coalesce(j.begun, false) end
  from qwf.jobs m join qwf.graph_nodes n on n.graph_id = p_graph and n.node_id = m.node_id
  where m.run_id = p_run.id and m.node_idx < 0
    and j.run_id = p_run.id and coalesce(j.parent_id, j.id) = m.id;
  perform _qwf.insert_nodes(array[p_run.id], qwf.now(), true);
end $$;

-- Makes a run that was over live again, and opens its nodes that have no unsatisfied
-- dependencies. It is queued until one of them starts: what it waits is not counted as running.
-- The counters are recounted, under the run's lock: the reset of nodes and maps is no event, so
-- there are no changes to add up. p_ending: it will end as it did, with the same error, once
-- what runs now has ended. A deadline counts from the retry on, also what it takes back first.
-- Locks: the caller has locked the run. The firings of schedules that enqueued it.
-- Raises: QW008 if another live run has taken its key meanwhile.
create function _qwf.reopen_run(p_run qwf.runs, p_ending boolean) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_material = off
set jit = off
as $$
declare
  v_ready _qwf.event[];
begin
  update qwf.jobs j set status = 'queued', position = _qwf.next_position(), queued_at = qwf.now()
  where j.run_id = p_run.id and j.status = 'blocked' and j.remaining_deps = 0 and not j.guarded
    and j.parent_id is null;
  perform _qwf.wake(j.queue, count(*)::int)
  from qwf.jobs j where j.run_id = p_run.id and j.status = 'queued' group by j.queue;
  v_ready := array(
    select (j.run_id, j.id, 'ready')::_qwf.event
    from qwf.jobs j
    where j.run_id = p_run.id and j.status = 'blocked' and j.remaining_deps = 0
      and j.parent_id is null);
  update qwf.runs r set
    status = 'queued', started_at = null, finished_at = null, late_at = null,
    ending = case when p_ending then r.status end, error = case when p_ending then r.error end,
    waiting_nodes = c.waiting,
    open_nodes = c.open, active_nodes = c.queued + cardinality(v_ready), failed_nodes = c.failed,
    deadline_at = case when p_run.then_retry is null and p_run.status <> 'awaiting_input'
      then qwf.now() + g.deadline
      else r.deadline_at end
  from (
    select
      count(*) filter (where j.finished_at is null) as open,
      count(*) filter (where j.status in ('queued', 'scheduled')) as queued,
      count(*) filter (where j.status = 'awaiting_input') as waiting,
      count(*) filter (where j.status = 'failed' and j.parent_id is null) as failed
    from qwf.jobs j where j.run_id = p_run.id
  ) c
  cross join qwf.graphs g
  where r.id = p_run.id and g.id = r.graph_id;
  update qwf.firings f set result = null, ended_at = null, reopened = true
  where f.run_id = p_run.id and p_run.status <> 'awaiting_input';
  perform _qwf.apply_events(v_ready);
exception
  when unique_violation then
    raise exception using errcode = 'QW008', message = 'the key of the run is taken',
      detail = format('key %L of workflow %s in project %L',
        p_run.key, p_run.workflow, p_run.project),
      hint = 'another run with this key is live: wait for it or cancel it, then retry';
end $$;

-- Lets a run that had waited in line, and has ended, wait in line once more, by the plan of its
-- retry. Returns the plan, or null if it never waited in line. Nodes, graph and context stay
-- until it is served: what the retry asks for waits in the inputs of its job (see _serve_run).
-- It starts now if its limit has room.
-- Locks: the caller has locked the run; its limit, against being dropped; the job for which it
--   runs; the firings of schedules that enqueued it.
-- Raises: QW001 if its limit is gone; QW008 if its key is taken; QW002 if a compensation node
--   below failed, or a body that runs at most once may have run and is not in p_named.
create function _qwf.line_up_again(
  p_run qwf.runs, p_graph bigint, p_context jsonb, p_from_node text,
  p_named text[] default null, p_completed text default null)
returns _qwf.planned[]
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_plan _qwf.planned[];
begin
  if not exists (select from qwf.jobs j where j.id = p_run.parent_id and j.run_id is null) then
    return null;
  end if;
  v_plan := array(select p from _qwf.plan_retry(p_run, p_graph, p_context, p_from_node,
    p_completed) p);
  if not exists (select from unnest(v_plan) p where p.verdict in ('new', 'runs again'))
    and p_run.node_count > 0
  then
    return '{}';
  end if;
  perform _qwf.lock_limits(j.limit_by) from qwf.jobs j where j.id = p_run.parent_id;
  perform _qwf.check_limit('', j.limit_by) from qwf.jobs j where j.id = p_run.parent_id;
  perform _qwf.refuse_below(p_run.id, v_plan, p_from_node),
    _qwf.refuse_maybe_run(p_run, p_graph, v_plan, p_from_node, p_named),
    _qwf.notice_clean_up(p_run, array(
      select p.job_id from unnest(v_plan) p where p.verdict = 'runs again'));
  update qwf.runs r set status = 'queued', started_at = null, finished_at = null, ending = null,
    error = null, deadline_at = null
  where r.id = p_run.id;
  update qwf.jobs j set status = 'queued', position = _qwf.next_position(), queued_at = v_now,
    finished_at = null, retries = j.retries + 1, failures = 0, losses = 0, run_at = null,
    inputs = jsonb_strip_nulls(jsonb_build_object(
      'graph_id', nullif(p_graph, p_run.graph_id), 'from_node', p_from_node,
      'completed', nullif(p_completed, 'keep')))
      || case when p_context <> p_run.context
        then jsonb_build_object('context', p_context) else '{}' end
  where j.id = p_run.parent_id;
  update qwf.firings f set result = null, ended_at = null, reopened = true
  where f.run_id = p_run.id;
  perform _qwf.wake('qwf.runs', 1), _qwf.apply_events('{}');
  return v_plan;
exception
  when unique_violation then
    raise exception using errcode = 'QW008', message = 'the key of the run is taken',
      detail = format('key %L of workflow %s in project %L',
        p_run.key, p_run.workflow, p_run.project),
      hint = 'another run with this key is live: wait for it or cancel it, then retry';
end $$;

-- Lets runs go on that have taken back what a retry runs again: by the plan of that retry, made
-- again. In the transaction in which the last compensation node ended. A run with one that
-- failed although the run goes on (on_failure continue) fails, as it does after any other. One
-- that has nothing left to run, because nothing was taken back, completes. An error is one of
-- the event that was applied: it is tried again, and fails the run in the end.
-- Locks: the caller has locked the runs.
create function _qwf.go_on(p_runs bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_run qwf.runs;
  v_failed text;
begin
  for v_run in
    select r.* from qwf.runs r where r.id = any (p_runs) and r.then_retry is not null order by r.id
  loop
    v_failed := (
      select format('%s failed: %s', j.node_id, _qwf.error_line(j.last_error)) from qwf.jobs j
      where j.run_id = v_run.id and j.run_if = 'compensates' and j.status in ('failed', 'cancelled')
        and _qwf.has_completed(v_run.id, v_run.graph_id, (
          select n.compensates from qwf.graph_nodes n
          where n.graph_id = v_run.graph_id and n.idx = j.node_idx))
      order by j.id limit 1);
    if v_failed is not null then
      perform _qwf.end_run(v_run.id, 'failed', v_failed, true);
    elsif _qwf.mend_run(v_run, (v_run.then_retry -> 'graph_id')::bigint,
      v_run.then_retry -> 'context', v_run.then_retry ->> 'from_node') = '{}'
    then
      perform _qwf.end_run(v_run.id, 'completed', null, true);
    end if;
  end loop;
end $$;
