-- Deploy qwf:functions/graphs/_store_graph
-- Purpose: Keeps a compiled graph, so that runs can point at it.
-- Guarantees: Waits for nobody: two sessions that keep the same graph at once leave a harmless
--   twin.
-- Called by: _graph_for, _recompile, register_workflow.

begin;

create function _qwf.store_graph(p_workflow_id bigint, p_pipeline_ids bigint[], p_graph jsonb)
returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_id bigint;
begin
  insert into qwf.graphs (workflow_id, pipeline_ids, node_count, context_checks, deadline)
  values (p_workflow_id, p_pipeline_ids, jsonb_array_length(p_graph -> 'nodes'),
    p_graph -> 'checks', (p_graph ->> 'deadline')::interval)
  returning id into v_id;
  insert into qwf.graph_nodes (
    graph_id, idx, node_id, step_id, pipeline, task, queue, dep_count, inputs, skip_if, input_spec,
    has_refs, ref_nodes, ref_files, required_model, light, vram_mb, requires, limit_by,
    on_failure, run_if, map, max_parallel, min_success, max_attempts, max_losses, backoff, timeout,
    stall_timeout)
  select
    v_id, n.idx, n.node_id, n.step_id, n.pipeline, n.task, n.queue, n.dep_count, n.inputs,
    n.skip_if, n.input_spec, n.has_refs, n.ref_nodes, n.ref_files, n.required_model, n.light,
    n.vram_mb, n.requires, n.limit_by, n.on_failure, n.run_if, n.map, n.max_parallel,
    n.min_success, n.max_attempts, n.max_losses, n.backoff, n.timeout, n.stall_timeout
  from jsonb_populate_recordset(null::qwf.graph_nodes, p_graph -> 'nodes') n;
  insert into qwf.graph_edges (graph_id, from_idx, to_idx)
  select v_id, (e -> 0)::int, (e -> 1)::int
  from jsonb_array_elements(p_graph -> 'edges') e;
  return v_id;
end $$;

commit;
