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
  v_nodes jsonb := _qwf.as_list(p_definition -> 'nodes');
  v_misfits _qwf.problem[];  -- found here: a plan would run it twice, to guess how many there are
begin
  if jsonb_typeof(p_definition) is distinct from 'object' then
    return next row('definition', 'must be an object', null)::_qwf.problem;
    return;
  end if;
  v_misfits := _qwf.misfits(p_definition, '{"$ref": "#/$defs/pipeline"}', '');
  return query select * from unnest(v_misfits);
  return query select * from _qwf.item_problems(v_nodes, 'nodes', null);
  return query select * from _qwf.compensation_problems(v_nodes, 'nodes', '{}');
  return query
    select *
    from _qwf.pipeline_reference_problems(p_definition || jsonb_build_object('nodes', v_nodes));
end $$;

commit;
