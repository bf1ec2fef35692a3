-- Deploy qwf:functions/mending/_move_run
-- Purpose: Gives a run that is over another context, and moves it to another graph of its workflow.
-- Guarantees: The jobs of nodes that the graph no longer has are deleted. The others get the place
--   and the terms (queue, tries, limits and so on) that the graph gives them, and so do their
--   elements. Nodes that are new are blocked; _mend_run counts what they wait for. New
--   compensation nodes are skipped.
-- Locks: the caller has locked the run, which is over.
-- Called by: _mend_run, _resume_child.

begin;

create function _qwf.move_run(p_run qwf.runs, p_graph bigint, p_context jsonb) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
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
  insert into qwf.jobs (
    run_id, graph_id, node_idx, node_id, queue, task, status, project, priority, inputs, input_spec,
    guarded, options, required_model, light, vram_mb, requires, limit_by, limit_place,
    on_failure, run_if, login, acting_for, labels, created_at, finished_at, begun)
  select p_run.id, n.graph_id, n.idx, n.node_id, n.queue, n.task,
    case when n.compensates is null then 'blocked' else 'skipped' end::qwf.job_status,
    p_run.project, p_run.priority, n.inputs, n.input_spec,
    num_nonnulls(n.skip_if, n.input_spec, n.map, n.compensates, n.delay) > 0,
    n.options, n.required_model, n.light, n.vram_mb, n.requires, n.limit_by,
    _qwf.limit_place(n.limit_by), n.on_failure, n.run_if, null, null, p_run.labels, v_now,
    case when n.compensates is not null then v_now end,
    case when n.at_most_once then false end
  from qwf.graph_nodes n
  where n.graph_id = p_graph and not exists (
    select from qwf.jobs j where j.run_id = p_run.id and j.node_idx = n.idx)
  order by n.idx;
end $$;

commit;
