-- Deploy qwf:functions/definitions/_workflow_problems
-- Purpose: Reports everything that is wrong with a workflow definition, except what compiling
--   finds.
-- Guarantees: Returns one row per problem, with its JSON path. p_pipelines holds the pipelines that
--   it may use, by name; they may have problems themselves. Never raises.
-- Called by: register_workflow, workflow_graph.

begin;

create function _qwf.workflow_problems(p_definition jsonb, p_pipelines jsonb)
returns setof _qwf.problem
language plpgsql stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_steps jsonb := _qwf.as_list(p_definition -> 'steps');
  v_step_nodes jsonb;  -- ids of the nodes of each step whose pipeline is known
  v_misfits _qwf.problem[];  -- found here: a plan would run it twice, to guess how many there are
begin
  if jsonb_typeof(p_definition) is distinct from 'object' then
    return next row('definition', 'must be an object', null)::_qwf.problem;
    return;
  end if;
  v_misfits := _qwf.misfits(p_definition, '{"$ref": "#/$defs/workflow"}', '');
  return query select * from unnest(v_misfits);
  select coalesce(jsonb_object_agg(i.id, coalesce(inner_node.ids, '{}')), '{}')
  into v_step_nodes
  from _qwf.items(v_steps) i
  cross join lateral (
    select jsonb_object_agg(n.id, true) filter (where n.id is not null) as ids
    from _qwf.items(p_pipelines -> (i.item ->> 'pipeline') -> 'nodes') n) inner_node
  where i.id is not null
    and (p_pipelines ? (i.item ->> 'pipeline')
      or _qwf.step_kind(i.item) in ('input', 'node', 'workflow'));
  return query select * from _qwf.item_problems(v_steps, 'steps', v_step_nodes);
  return query select * from _qwf.compensation_problems(v_steps, 'steps', p_pipelines);
  return query
    select format('steps[%s].pipeline', i.place - 1), format('there is no pipeline "%s"', i.name),
      coalesce(
        _qwf.did_you_mean(i.name, array(select p.name from qwf.pipelines p where p.current)),
        'register the pipeline first')
    from (select l.place, l.item, l.item ->> 'pipeline' as name from _qwf.items(v_steps) l) i
    where i.item ->> 'kind' = 'pipeline' and jsonb_typeof(i.item -> 'pipeline') = 'string'
      and not p_pipelines ? i.name
    union all
    select format('steps[%s].workflow', i.place - 1), format('there is no workflow "%s"', i.name),
      coalesce(
        _qwf.did_you_mean(i.name, array(select w.name from qwf.workflows w where w.current)),
        'register that workflow first')
    from (select l.place, l.item, l.item ->> 'workflow' as name from _qwf.items(v_steps) l) i
    where i.item ->> 'kind' = 'workflow' and jsonb_typeof(i.item -> 'workflow') = 'string'
      and not p_pipelines ? ('workflow:' || i.name);
end $$;

commit;
