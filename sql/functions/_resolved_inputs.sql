-- Deploy qwf:functions/_resolved_inputs
-- requires: schema/graphs
-- requires: functions/_scope
-- requires: functions/_resolve
-- Purpose: The inputs of a node with its references resolved, against outputs as they are now.
-- Guarantees: Errors come back as values. Strict: a standalone job, whose args are data, costs
--   nothing here.
-- Called by: claim.

begin;

create function qwf._resolved_inputs(p_run_id bigint, p_graph_id bigint, p_node_idx int)
returns qwf.resolution
language plpgsql stable strict
set search_path = pg_catalog, pg_temp
as $$
declare
  v_node qwf.graph_nodes;
begin
  select n.* into v_node
  from qwf.graph_nodes n
  where n.graph_id = p_graph_id and n.idx = p_node_idx;
  if not v_node.has_refs then
    return null;
  end if;
  return qwf._resolve(v_node.inputs, qwf._scope(p_run_id, v_node.ref_nodes, v_node.ref_files));
end $$;
comment on function qwf._resolved_inputs(bigint, bigint, int) is
  'Resolved inputs of a node, or the reason why not; null where its inputs hold no reference.';
revoke all on function qwf._resolved_inputs(bigint, bigint, int) from public;

commit;
