-- Deploy qwf:functions/_pipeline_problems
-- Purpose: Everything that is wrong with a pipeline definition.
-- Guarantees: One row per problem with its JSON path; none for a definition that can be used. Never
--   raises.
-- Called by: register_pipeline.

begin;

create function qwf._pipeline_problems(p_definition jsonb) returns setof qwf.problem
language plpgsql stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_keys constant jsonb := jsonb '{
    "name": "string", "display_name": "string", "mode": "string", "requires_gpu": "boolean",
    "inputs": "object", "outputs": "object", "nodes": "array"}';
  v_nodes jsonb := qwf._list(p_definition -> 'nodes');
begin
  if jsonb_typeof(p_definition) is distinct from 'object' then
    return next row('definition', 'must be an object', null)::qwf.problem;
    return;
  end if;
  return query select * from qwf._key_problems(p_definition, v_keys, '{name,nodes}', '');
  return query select * from qwf._name_problems(p_definition);
  if p_definition ? 'inputs' then
    return query select * from qwf._definition_schema_problems(p_definition -> 'inputs', 'inputs');
    return query
      select 'inputs.type', 'must be "object"', null::text
      where p_definition #> '{inputs,type}' <> '"object"';
  end if;
  return query select * from qwf._expression_problems(p_definition -> 'outputs', 'outputs');
  return query
    select 'outputs.files', '"files" is reserved', 'choose another name for this export'
    where exists (select from qwf._expressions(p_definition #> '{outputs,files}', ''));
  return query select * from qwf._item_problems(v_nodes, 'nodes', null);
  return query
    select p.*
    from qwf._items(v_nodes) i
    cross join lateral qwf._node_problems(i.item, format('nodes[%s]', i.place - 1)) p
    order by i.place;
  return query
    select *
    from qwf._pipeline_reference_problems(p_definition || jsonb_build_object('nodes', v_nodes));
end $$;

revoke all on function qwf._pipeline_problems from public;

commit;
