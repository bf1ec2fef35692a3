-- Deploy qwf:functions/_compile
-- requires: functions/_ancestors
-- requires: functions/_assemble
-- requires: functions/_compile_step
-- requires: functions/_edges
-- requires: functions/_items
-- requires: functions/_names
-- requires: functions/_step_names
-- requires: functions/_topological
-- Purpose: A workflow and its pipelines as one graph: nodes, edges, checks for enqueue, problems.
-- Guarantees: Reads no table but through its arguments, writes none. Steps are visited once, dependencies first. Tolerates
--   a workflow that has other problems, so that all of them are found at once; the graph counts only if there is none.
-- Called by: _graph_for, register_pipeline, _workflow_problems.

begin;

create function qwf._compile(p_workflow jsonb, p_pipelines jsonb) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_steps jsonb := p_workflow -> 'steps';
  v_count int := jsonb_array_length(v_steps);
  v_tails int[];
  v_heads int[];
  v_order int[];
  v_graph jsonb;
  v_place int;
  v_step jsonb;
  v_pipeline jsonb;
  v_parts jsonb[] := array_fill(null::jsonb, array[v_count]);
  v_names jsonb;
begin
  select array_agg(e.tail), array_agg(e.head) into v_tails, v_heads from qwf._edges(v_steps) e;
  v_order := qwf._topological(v_count, v_tails, v_heads);
  v_graph := jsonb_build_object(
    'places', (select coalesce(jsonb_object_agg(i.id, i.place order by i.place desc), '{}')
               from qwf._items(v_steps) i where i.id is not null),
    'ordered', to_jsonb(v_order));
  foreach v_place in array coalesce(v_order, '{}') loop
    v_step := v_steps -> (v_place - 1);
    if v_graph -> 'places' -> (v_step ->> 'id') = to_jsonb(v_place) then  -- usable, and the first of its id
      v_pipeline := p_pipelines -> (v_step ->> 'pipeline');
      v_names := qwf._step_names(v_step, v_pipeline, v_place, v_graph, v_parts);
      v_parts[v_place] := qwf._compile_step(v_step, format('steps[%s]', v_place - 1), v_pipeline, v_names)
        || qwf._waits(v_step, v_graph, v_parts);
    end if;
  end loop;
  return qwf._assemble(array(select v_parts[o] from unnest(v_order) o where v_parts[o] is not null));
end $$;

comment on function qwf._compile(jsonb, jsonb) is
  'Returns the graph of a workflow over the given pipelines: nodes, edges, checks, and the problems that forbid its use.';
revoke all on function qwf._compile(jsonb, jsonb) from public;

commit;
