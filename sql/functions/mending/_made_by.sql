-- Deploy qwf:functions/mending/_made_by
-- Purpose: Returns what makes the result of a node: two nodes with the same value give the same
--   result for the same context.
-- Guarantees: References are absolute, so a value says where it comes from, too. Queue, timeouts,
--   tries, limits, max_parallel, min_success, and max and every of a repeat are not in it: they
--   change when and where a node runs, not what it gives. A step that runs a workflow has the nodes
--   and outputs of that, too.
-- Called by: _reasons_to_run.

begin;

create function _qwf.made_by(p_node qwf.graph_nodes) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_array(
    p_node.task, p_node.inputs, p_node.map, p_node.skip_if, p_node.input_spec, p_node.run_if,
    p_node.required_model, p_node.repeat -> 'until', (
      select jsonb_build_array(g.outputs, (
        select jsonb_object_agg(n.node_id, _qwf.made_by(n))
        from qwf.graph_nodes n where n.graph_id = g.id))
      from qwf.graphs g where g.id = p_node.child_graph_id))
$$;

commit;
