-- Deploy qwf:functions/graphs/_store_graph
-- Purpose: Stores a compiled graph, so that runs can point to it.
-- Guarantees: Waits for no other session: two sessions that store the same graph at the same time
--   leave a harmless duplicate. The keys of a node in p_graph are the columns of its row.
-- Called by: _graph_for, _recompile, register_workflow.

begin;

create function _qwf.store_graph(
  p_workflow_id bigint, p_pipeline_ids bigint[], p_child_ids bigint[], p_graph jsonb)
returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_node qwf.graph_nodes;  -- holds what all nodes share
begin
  insert into qwf.graphs (
    workflow_id, pipeline_ids, child_ids, node_count, compensation_count, context_checks, inputs,
    outputs, deadline)
  values (p_workflow_id, p_pipeline_ids, p_child_ids, jsonb_array_length(p_graph -> 'nodes'),
    jsonb_array_length(jsonb_path_query_array(p_graph, '$.nodes[*] ? (@.run_if == "compensates")')),
    p_graph -> 'checks', nullif(p_graph -> 'inputs', 'null'), nullif(p_graph -> 'outputs', 'null'),
    (p_graph ->> 'deadline')::interval)
  returning id into v_node.graph_id;
  insert into qwf.graph_nodes
  select n.* from jsonb_populate_recordset(v_node, p_graph -> 'nodes') n;
  insert into qwf.graph_edges (graph_id, from_idx, to_idx)
  select v_node.graph_id, (e -> 0)::int, (e -> 1)::int
  from jsonb_array_elements(p_graph -> 'edges') e;
  return v_node.graph_id;
end $$;

commit;
