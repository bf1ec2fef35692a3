-- Deploy qwf:functions/_compile_step
-- requires: functions/_canonical
-- requires: functions/_compile_node
-- requires: functions/_compile_question
-- requires: functions/_expressions
-- requires: functions/_pipeline_shape
-- requires: functions/_reference_problems
-- requires: functions/_step_inputs
-- Purpose: One step of a workflow: its nodes, what its name stands for downstream, checks and problems.
-- Guarantees: Tolerates an unknown pipeline (null): the step then has no nodes and stands for something unknown.
-- Called by: _compile.

begin;

create function qwf._compile_step(p_step jsonb, p_path text, p_pipeline jsonb, p_names jsonb) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_id text := p_step ->> 'id';
  v_problems jsonb := (
    select coalesce(jsonb_agg(p), '[]')
    from qwf._reference_problems(p_step - 'inputs' - 'schema', p_path, p_names) p);
  v_given jsonb;
  v_shape jsonb;
  v_names jsonb;
  v_exports jsonb;
  v_nodes jsonb;
begin
  if p_step ->> 'kind' = 'input' then
    return jsonb_build_object(
      'nodes', jsonb_build_array(qwf._compile_question(p_step, p_names)), 'checks', jsonb '[]', 'problems', v_problems,
      'name', jsonb_build_object('id', v_id, 'leaves', jsonb_build_array(v_id),
        'target', coalesce(p_step ->> 'target', 'value')));
  end if;
  v_problems := v_problems || (
    select coalesce(jsonb_agg(p), '[]')
    from qwf._reference_problems(qwf._named_inputs(p_step -> 'inputs'), p_path || '.inputs', p_names) p);
  if p_pipeline is null then
    return jsonb_build_object('nodes', jsonb '[]', 'checks', jsonb '[]', 'problems', v_problems,
      'name', jsonb '{"kind": "unknown"}');
  end if;
  v_given := qwf._step_inputs(p_step, p_path, p_pipeline -> 'inputs', p_names);
  v_shape := qwf._pipeline_shape(p_pipeline, v_id);
  v_names := p_names || (v_shape -> 'names') || jsonb_build_object('pipeline', jsonb_build_object(
    'kind', 'pipeline', 'inputs', v_given -> 'inputs', 'declared', coalesce(p_pipeline #> '{inputs,properties}', '{}')));
  select jsonb_agg(qwf._compile_node(n.value, p_step, qwf._canonical(p_step -> 'skip_if', p_names), v_names)
      || jsonb_build_object('depends_on', coalesce(n.value -> 'depends_on', '[]')) order by n.place)
  into v_nodes
  from jsonb_array_elements(v_shape -> 'nodes') with ordinality as n (value, place);
  select jsonb_object_agg(o.key, qwf._canonical(o.value, v_names))
  into v_exports
  from jsonb_each(p_pipeline -> 'outputs') o
  where exists (select from qwf._expressions(o.value, ''));
  return jsonb_build_object(
    'nodes', coalesce(v_nodes, '[]'),
    'checks', v_given -> 'checks',
    'problems', v_problems || (v_given -> 'problems') || (
      select coalesce(jsonb_agg(p), '[]')
      from (select * from qwf._reference_problems(v_shape -> 'references', p_path || '.pipeline', v_names)) p),
    'name', jsonb_build_object('id', v_id, 'leaves', v_shape -> 'leaves', 'nodes', v_shape -> 'names')
      || case when v_exports is null then '{}' else jsonb_build_object('exports', v_exports) end);
end $$;

comment on function qwf._compile_step(jsonb, text, jsonb, jsonb) is
  'Returns the nodes of one step, what its name stands for, what to check at enqueue, and what is wrong.';
revoke all on function qwf._compile_step(jsonb, text, jsonb, jsonb) from public;

commit;
