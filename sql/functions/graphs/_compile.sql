-- Deploy qwf:functions/graphs/_compile
-- Purpose: Compiles a workflow and its pipelines into one graph: nodes, edges, checks for
--   enqueue_run, deadline, inputs, outputs and problems. p_pipelines has the workflows that its
--   steps run, too, under workflow:NAME.
-- Guarantees: Writes no table, and reads only the graphs of runs that its nodes start. Visits each
--   step once, dependencies first. Tolerates a workflow that has other problems, so that all of
--   them are found at once; the graph is valid only if there is no problem.
-- Called by: _graph_for, _recompile, register_workflow, workflow_graph.

begin;

create function _qwf.compile(p_workflow jsonb, p_pipelines jsonb) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_steps jsonb := p_workflow -> 'steps';
  v_count int := jsonb_array_length(v_steps);
  v_places jsonb;  -- position of each step id
  v_order int[];
  v_upstream bit varying[];
  v_parts jsonb[] := array_fill(null::jsonb, array[v_count]);
  v_place int;
  v_step jsonb;
  v_pipeline jsonb;
  v_waits jsonb;
  v_names jsonb;
  v_graph jsonb;
  v_outputs jsonb;
begin
  select coalesce(jsonb_object_agg(i.id, i.place order by i.place desc), '{}')
  into v_places
  from _qwf.items(v_steps) i
  where i.id is not null;
  select o, _qwf.ancestors(v_count, o, e.tails, e.heads, e.wholes)
  into v_order, v_upstream
  from (
    select array_agg(tail) as tails, array_agg(head) as heads, array_agg(whole) as wholes
    from _qwf.edges(v_steps)) e
  cross join lateral _qwf.topological(v_count, e.tails, e.heads) o;
  foreach v_place in array coalesce(v_order, '{}') loop
    v_step := v_steps -> (v_place - 1);
    if v_places -> (v_step ->> 'id') = to_jsonb(v_place) then  -- an object, the first with its id
      v_pipeline := p_pipelines -> case v_step ->> 'kind'
        when 'workflow' then 'workflow:' || (v_step ->> 'workflow') else v_step ->> 'pipeline' end;
      v_waits := _qwf.step_dependencies(v_step, v_places, v_parts);
      v_names := _qwf.step_names(
        jsonb_build_array(v_step, v_pipeline), v_place, v_order, v_places, v_parts,
        v_upstream[v_place], v_waits);
      v_parts[v_place] := v_waits
        || _qwf.compile_step(v_step, format('steps[%s]', v_place - 1),
          v_pipeline || jsonb_build_object('children', p_pipelines), v_names);
    end if;
  end loop;
  v_graph := _qwf.assemble(_qwf.with_compensations(
    array(select v_parts[o] from unnest(v_order) o where v_parts[o] is not null)));
  v_outputs := _qwf.compile_outputs(p_workflow -> 'outputs', v_places, v_parts);
  return v_graph || jsonb_build_object(
    'deadline', _qwf.as_interval(p_workflow -> 'deadline'),
    'inputs', p_workflow -> 'inputs', 'outputs', v_outputs -> 'outputs',
    'problems', (v_graph -> 'problems') || (v_outputs -> 'problems'));
end $$;

commit;
