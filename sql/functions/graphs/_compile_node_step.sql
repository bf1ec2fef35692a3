-- Deploy qwf:functions/graphs/_compile_node_step
-- Purpose: Compiles a step that is one node, or runs a workflow: its row, the name it stands for,
--   its checks and its problems.
-- Guarantees: The id of the row is the id of the step. What other steps wait for is that row, and
--   the row itself waits for what the step waits for. Only its inputs and its command read the
--   elements of its map, or the last turn, which the end of a repeat reads, too. A step that runs a
--   workflow is a job of the engine's queue; p_child is the graph of that workflow and the schema
--   of its inputs, null for a node or an unknown workflow.
-- Called by: _compile_step.

begin;

create function _qwf.compile_node_step(
  p_step jsonb, p_path text, p_child jsonb, p_names jsonb)
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_id text := p_step ->> 'id';
  v_step jsonb := p_step || jsonb_build_object('inputs', _qwf.named_inputs(p_step -> 'inputs'));
  v_names jsonb := p_names || case when p_step ?| array['map', 'repeat']
    then jsonb '{"item": {"kind": "element"}, "index": {"kind": "element"}}' else '{}' end;
  v_problems _qwf.problem[] := array(
    select p
    from _qwf.reference_problems(v_step - array['inputs', 'command', 'repeat'], p_path, p_names) p
    union all
    select p
    from _qwf.reference_problems(
      jsonb_build_object('inputs', v_step -> 'inputs', 'command', v_step -> 'command',
        'repeat', v_step -> 'repeat'),
      p_path, v_names) p
    union all
    select (p_path || '.map', m.error, null)::_qwf.problem
    from _qwf.compile_map(p_step -> 'map', p_names) m
    where m.error not like 'malformed%'  -- _checked reports those
      and (jsonb_typeof(p_step -> 'map') = 'array'
        or exists (select from _qwf.expressions(p_step -> 'map', '') e where e.path = '')));
  v_given jsonb := jsonb '{"checks": [], "problems": []}';
  v_node jsonb := _qwf.compile_node(p_step, p_step, null, v_names)
    || jsonb_build_object('node_id', v_id, 'depends_on', jsonb '[]',
      'compensates', p_step -> 'compensates');
begin
  if p_step ->> 'kind' = 'workflow' then
    v_given := _qwf.compile_run(p_step, p_path, p_child, v_names, v_node -> 'max_parallel');
    v_step := jsonb_set(v_step, '{inputs}', (v_step -> 'inputs') - array(
      select c ->> 'name' from jsonb_array_elements(v_given -> 'checks') c));
    v_node := v_node || (v_given -> 'node');
  end if;
  return jsonb_build_object(
    'nodes', jsonb_build_array(v_node),
    'name', jsonb_build_object('id', v_id, 'leaves', jsonb_build_array(v_id)),
    'checks', (v_given -> 'checks') || _qwf.context_needs(v_step, null, v_names, v_names),
    'problems', to_jsonb(v_problems) || (v_given -> 'problems'));
end $$;

commit;
