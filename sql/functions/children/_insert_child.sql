-- Deploy qwf:functions/children/_insert_child
-- Purpose: Makes the run of a step, and returns its id.
-- Guarantees: Project, priority, labels, folder and who began it are those of the run above. It has
--   until the earliest of its own deadline, the timeout of the step and the deadline of the run
--   above. A run without nodes has completed.
-- Notifies: sleepers of the queues of the first nodes.
-- Raises: QW005 if the inputs do not fit the workflow.
-- Called by: _serve_run.

begin;

create function _qwf.insert_child(
  p_job qwf.jobs, p_graph bigint, p_context jsonb, p_now timestamptz)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_run bigint;
begin
  perform _qwf.raise_problems('QW005', 'the inputs do not fit the workflow',
    array(select p from _qwf.context_problems(p_graph, p_context) p));
  insert into qwf.runs as r (
    graph_id, workflow, workflow_version, status, project, priority, context, labels, out_dir,
    login, acting_for, schedule, node_count, open_nodes, active_nodes, deadline_at, created_at,
    started_at, finished_at, parent_id, parent_attempt, depth)
  select g.id, w.name, w.version,
    case when g.node_count = 0 then 'completed' else 'queued' end::qwf.run_status,
    a.project, p_job.priority, p_context, a.labels, a.out_dir,
    a.login, a.acting_for, a.schedule, g.node_count, g.node_count - g.compensation_count,
    (select count(*) from qwf.graph_nodes n where n.graph_id = g.id and n.dep_count = 0),
    least(p_now + g.deadline, p_now + p_job.timeout, a.deadline_at), p_now,
    case when g.node_count = 0 then p_now end, case when g.node_count = 0 then p_now end,
    p_job.id, p_job.attempt + 1, a.depth + 1
  from qwf.graphs g
  join qwf.workflows w on w.id = g.workflow_id
  join qwf.runs a on a.id = p_job.run_id
  where g.id = p_graph
  returning r.id into v_run;
  perform _qwf.insert_nodes(v_run, p_now);
  return v_run;
end $$;

commit;
