-- Deploy qwf:functions/children/_insert_children
-- Purpose: Makes the runs of steps whose attempt has started, and returns their ids.
-- Guarantees: One statement for the runs and one for their nodes, however many. Project, priority,
--   labels, folder and who began it are those of the run above. A run has until the earliest of its
--   own deadline, the timeout of the step and the deadline of the run above. A run without nodes
--   has completed.
-- Notifies: sleepers of the queues of the first nodes.
-- Called by: _serve_run, _start_children.

begin;

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

commit;
