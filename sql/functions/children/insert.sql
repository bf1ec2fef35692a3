-- The run of a job, inserted or continued. Callers hold the lock of the run above.

-- Makes the runs of steps whose attempt has started, and returns their ids. One statement for
-- the runs and one for their nodes, however many. Project, priority, labels, folder and who
-- began it are those of the run above. A run has until the earliest of its own deadline, the
-- timeout of the step and the deadline of the run above. A run without nodes has completed.
-- Notifies: sleepers of the queues of the first nodes.
create function _qwf.insert_children(
  p_jobs bigint[], p_graphs bigint[], p_contexts jsonb[], p_now timestamptz)
returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_runs bigint[];
begin
  with made as (
    insert into qwf.runs as r (
      graph_id, workflow, workflow_version, status, project, priority, context, labels, out_dir,
      login, acting_for, schedule, node_count, open_nodes, active_nodes, deadline_at, created_at,
      started_at, finished_at, parent_id, parent_attempt, depth)
    select g.id, w.name, w.version,
      case when g.node_count = 0 then 'completed' else 'queued' end::qwf.run_status,
      a.project, j.priority, p.context, a.labels, a.out_dir,
      a.login, a.acting_for, a.schedule, g.node_count, g.node_count - g.compensation_count,
      (select count(*) from qwf.graph_nodes n where n.graph_id = g.id and n.dep_count = 0),
      least(p_now + g.deadline, p_now + (j.options).timeout, a.deadline_at), p_now,
      case when g.node_count = 0 then p_now end, case when g.node_count = 0 then p_now end,
      j.id, j.attempt, a.depth + 1
    from unnest(p_jobs, p_graphs, p_contexts) with ordinality p (job, graph, context, n)
    join qwf.jobs j on j.id = p.job
    join qwf.runs a on a.id = j.run_id
    join qwf.graphs g on g.id = p.graph
    join qwf.workflows w on w.id = g.workflow_id
    order by p.n
    returning r.id
  )
  select array_agg(m.id) into v_runs from made m;
  perform _qwf.insert_nodes(v_runs, p_now);
  return v_runs;
end $$;

-- Starts a run again for another attempt at its job: its nodes that failed or were cancelled,
-- those that another graph or context changes, and their successors; all nodes of a run that
-- waited in line for its first attempt; only the compensation nodes of one cancelled there. A
-- run with nothing left to run completes. Returns how many rows of nodes were made or reset.
-- Locks: the caller has locked the run.
-- Notifies: sleepers of the queues of the first nodes.
-- Raises: QW005 if the inputs do not fit the workflow; QW002 if a compensation node failed, or
--   if a body that runs at most once may have run and this is no retry by hand.
create function _qwf.resume_child(
  p_job qwf.jobs, p_run qwf.runs, p_graph bigint, p_context jsonb, p_now timestamptz)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_nodes int;
  v_asked jsonb := case when p_job.run_id is null then p_job.inputs end;  -- by _line_up_again
  v_deadline timestamptz := (
    select least(p_now + g.deadline, p_now + (p_job.options).timeout, a.deadline_at)
    from qwf.graphs g left join qwf.runs a on a.id = p_job.run_id
    where g.id = p_graph);
begin
  update qwf.runs r set
    parent_attempt = p_job.attempt + 1, priority = p_job.priority, ending = null
  where r.id = p_run.id;
  if p_run.finished_at is null and p_run.ending is not null then
    perform _qwf.end_run(p_run.id, p_run.ending, p_run.error);
    perform _qwf.apply_events(
      _qwf.take_events(array[p_run.id]) || array[(p_run.id, null, 'stop')::_qwf.event]);
    return p_run.node_count;
  end if;
  update qwf.jobs j set inputs = '{}'
  where j.id = p_job.id and v_asked <> '{}';
  if exists (select from qwf.jobs j where j.run_id = p_run.id) then
    perform _qwf.refuse_compensation(p_run, v_asked ->> 'from_node',
      p_completed => v_asked ->> 'completed');
    if p_context <> p_run.context or p_graph <> p_run.graph_id then
      perform _qwf.raise_problems('QW005', 'the inputs do not fit the workflow',
        array(select p from _qwf.context_problems(p_graph, p_context) p));
    end if;
    v_nodes := (
      select count(*) filter (where p.verdict in ('new', 'runs again'))
      from unnest(_qwf.mend_run(p_run, p_graph, p_context, v_asked ->> 'from_node',
        case when p_job.failures > 0 then '{}'::text[] end,  -- nobody has looked
        v_asked ->> 'completed')) p);
  else
    perform _qwf.move_run(p_run, p_graph, p_context);
    update qwf.runs r set open_nodes = g.node_count - g.compensation_count, active_nodes = (
      select count(*) from qwf.graph_nodes n where n.graph_id = g.id and n.dep_count = 0)
    from qwf.graphs g
    where r.id = p_run.id and g.id = r.graph_id
    returning r.node_count into v_nodes;
    perform _qwf.insert_nodes(array[p_run.id], p_now);
  end if;
  update qwf.runs r set deadline_at = v_deadline
  where r.id = p_run.id and r.deadline_at is distinct from v_deadline;
  if v_nodes = 0 then
    update qwf.runs r set status = 'completed', error = null, ending = null, open_nodes = 0,
      active_nodes = 0, waiting_nodes = 0, started_at = coalesce(r.started_at, p_now),
      finished_at = p_now
    where r.id = p_run.id;
    insert into _qwf.event_log (at, run_id, kind, subject, detail)
    values (p_now, p_run.id, 'run_ended', p_run.workflow,
      _qwf.run_ended('completed', p_now, p_now, null, p_job.id));
  end if;
  return v_nodes;
end $$;
