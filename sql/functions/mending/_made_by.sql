-- Deploy qwf:functions/mending/_made_by
-- Purpose: Returns what makes the result of a node: two nodes with the same value give the same
--   result for the same context.
-- Guarantees: References are absolute, so a value says where it comes from, too. Queue, timeouts,
--   tries, limits, max_parallel and min_success are not in it: they change when and where a node
--   runs, not what it gives. A node that starts a run of its own adds the nodes of that run here.
-- Called by: _reasons_to_run.

begin;

create function _qwf.made_by(p_node qwf.graph_nodes) returns jsonb
language sql immutable
return jsonb_build_array(
  p_node.task, p_node.inputs, p_node.map, p_node.skip_if, p_node.input_spec, p_node.run_if,
  p_node.required_model);

commit;
