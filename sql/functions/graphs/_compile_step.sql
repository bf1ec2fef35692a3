-- Deploy qwf:functions/graphs/_compile_step
-- Purpose: Compiles one step of a workflow: its nodes, what its name stands for downstream, its
--   checks and its problems.
-- Guarantees: Tolerates an unknown pipeline (null): the step then has no nodes, and its name stands
--   for something unknown.
-- Called by: _compile.

begin;

create function _qwf.compile_step(p_step jsonb, p_path text, p_pipeline jsonb, p_names jsonb)
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_id text := p_step ->> 'id';
  v_part jsonb := jsonb '{"nodes": [], "name": {"kind": "unknown"}}';
  v_inputs jsonb := _qwf.named_inputs(p_step -> 'inputs');
  v_read jsonb := p_step - array['schema', 'default'] || jsonb_build_object('inputs', v_inputs);
  v_problems _qwf.problem[] := array(
    select p from _qwf.reference_problems(v_read, p_path, p_names) p);
  v_given jsonb := jsonb '{"checks": []}';
  v_skip_if jsonb := _qwf.with_absolute_references(p_step -> 'skip_if', p_names);
  v_shape jsonb;
  v_names jsonb;
  v_parts jsonb := '{}';  -- of nodes, by id
begin
  if _qwf.step_kind(p_step) in ('node', 'workflow') then
    return _qwf.compile_node_step(p_step, p_path, p_pipeline, p_names);
  elsif p_step ->> 'kind' = 'input' then
    v_part := v_part || jsonb_build_object(
      'nodes', jsonb_build_array(_qwf.compile_question(p_step, p_names)),
      'name', jsonb_build_object('id', v_id, 'leaves', jsonb_build_array(v_id),
        'target', coalesce(p_step ->> 'target', 'value'),
        'is_option', p_step -> 'multiple' is distinct from 'true' and (
          select bool_and(o ? 'value' and o::text !~ '"[$]')
          from jsonb_array_elements(_qwf.offered(p_step)) o)));
  elsif p_pipeline is not null then
    v_given := _qwf.step_inputs(p_step, p_path, p_pipeline -> 'inputs', p_names);
    v_shape := _qwf.pipeline_shape(p_pipeline, v_id);
    v_names := p_names || (v_shape -> 'names')
      || jsonb '{"item": {"kind": "element"}, "index": {"kind": "element"}}'
      || jsonb_build_object('pipeline', jsonb_build_object(
        'kind', 'pipeline', 'inputs', v_given -> 'inputs',
        'declared', coalesce(p_pipeline #> '{inputs,properties}', '{}')));
    v_parts := _qwf.compile_node_parts(
      p_step, p_path, v_shape #> '{references,nodes}', p_pipeline -> 'children', v_names);
    v_problems := v_problems || array(select p from jsonb_populate_recordset(null::_qwf.problem,
      (v_given -> 'problems') || to_jsonb(array(select p from _qwf.reference_problems(
        v_shape -> 'references', p_path || '.pipeline', v_names) p))
      || jsonb_path_query_array(v_parts, '$.*.problems[*]')) p);
    v_part := v_part || jsonb_build_object('nodes', (
        select coalesce(jsonb_agg(_qwf.compile_node(n.node, p_step, v_skip_if, v_names)
              || coalesce(v_parts #> array[n.node ->> 'id', 'node'], '{}')
              || jsonb_build_object('depends_on', coalesce(n.node -> 'depends_on', '[]'))
              || _qwf.step_delay(p_step, n.node, p_names, v_names)
            order by n.place), '[]')
        from jsonb_array_elements(v_shape -> 'nodes') with ordinality as n (node, place)),
      'name', jsonb_build_object('id', v_id, 'leaves', v_shape -> 'leaves',
          'nodes', v_shape -> 'names') || (
        select case when count(*) = 0 then '{}' else jsonb_build_object('exports',
          jsonb_object_agg(o.key, _qwf.with_absolute_references(o.value, v_names))) end
        from jsonb_each(p_pipeline -> 'outputs') o
        where exists (select from _qwf.expressions(o.value, ''))));
  end if;
  v_inputs := v_inputs - array(
    select c ->> 'name' from jsonb_array_elements(v_given -> 'checks') c);
  return v_part || jsonb_build_object('problems', to_jsonb(v_problems),
    'checks', (v_given -> 'checks') || jsonb_path_query_array(v_parts, '$.*.checks[*]')
      || _qwf.context_needs(v_read || jsonb_build_object('inputs', v_inputs),
        v_shape #> '{references,nodes}', p_names, v_names));
end $$;

commit;
