-- Deploy qwf:functions/claim/_resolved_inputs
-- Purpose: The inputs of a node with its references resolved, against outputs as they are now.
-- Guarantees: Errors come back as values. No row where the inputs hold no reference, or for a job
--   that is no node, whose args are data: these cost nothing here. Inlined into its caller's query.
-- Called by: _resolve_inputs.

begin;

create function _qwf.resolved_inputs(p_run_id bigint, p_graph_id bigint, p_node_idx int)
returns setof _qwf.resolution
language sql stable rows 1
as $$
  select r.value, r.error
  from (  -- offset: by the index, whatever the statistics say
    select n.inputs, n.ref_nodes, n.ref_files from qwf.graph_nodes n
    where n.graph_id = p_graph_id and n.idx = p_node_idx and n.has_refs offset 0) n
  cross join lateral _qwf.scope(p_run_id, n.ref_nodes, n.ref_files) s
  cross join lateral _qwf.resolve(n.inputs, s.scope) r
$$;

commit;
