-- Deploy qwf:functions/definitions/_pipeline_problems
-- Purpose: Reports everything that is wrong with a pipeline definition.
-- Guarantees: Returns one row per problem, with its JSON path, and none for a definition that can
--   be used. Never raises.
-- Called by: _given_problems, register_pipeline.

begin;

create function _qwf.pipeline_problems(p_definition jsonb) returns setof _qwf.problem
language plpgsql stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_keys constant jsonb := _qwf.definition_keys() -> 'pipeline';
  v_nodes jsonb := _qwf.as_list(p_definition -> 'nodes');
begin
  if jsonb_typeof(p_definition) is distinct from 'object' then
    return next row('definition', 'must be an object', null)::_qwf.problem;
    return;
  end if;
  return query select * from _qwf.key_problems(p_definition, v_keys, '{name,nodes}', '');
  return query select * from _qwf.name_problems(p_definition);
  return query select * from _qwf.interface_problems(p_definition);
  return query select * from _qwf.item_problems(v_nodes, 'nodes', null);
  return query select * from _qwf.compensation_problems(v_nodes, 'nodes', '{}');
  return query
    select p.*
    from _qwf.items(v_nodes) i
    cross join lateral _qwf.node_problems(i.item, format('nodes[%s]', i.place - 1)) p
    order by i.place;
  return query
    select *
    from _qwf.pipeline_reference_problems(p_definition || jsonb_build_object('nodes', v_nodes));
end $$;

commit;
