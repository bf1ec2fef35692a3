-- Deploy qwf:functions/graphs/_step_delay
-- Purpose: Returns the delay of a first node of a step that runs a pipeline: that of the step, and
--   after it that of the node.
-- Guarantees: Empty for other nodes, and for a step without a delay.
-- Called by: _compile_step.

begin;

create function _qwf.step_delay(p_step jsonb, p_node jsonb, p_step_names jsonb, p_node_names jsonb)
returns jsonb
language sql stable
as $$
  select case
    when p_step ? 'delay' and coalesce(p_node -> 'depends_on', '[]') = '[]'
      then jsonb_build_object('delay',
        jsonb_build_array(_qwf.with_absolute_references(p_step -> 'delay', p_step_names))
        || case when p_node ? 'delay' then jsonb_build_array(
          _qwf.with_absolute_references(p_node -> 'delay', p_node_names)) else '[]' end)
    else '{}' end
$$;

commit;
