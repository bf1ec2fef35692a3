-- Deploy qwf:functions/graphs/_compile_run
-- Purpose: Compiles what is special in a step, or in a node of a pipeline, that runs a workflow: it
--   is a job of the engine's queue, and its inputs have to fit the workflow. Returns the columns of
--   its row, its checks and its problems.
-- Guarantees: p_child is the graph of that workflow and the schema of its inputs; null: it is
--   unknown, which others report. Reads the graphs below for a limit that is inside itself.
-- Called by: _compile_node_parts, _compile_node_step.

begin;

create function _qwf.compile_run(
  p_node jsonb, p_path text, p_child jsonb, p_names jsonb, p_max_parallel jsonb)
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_given jsonb := jsonb '{"inputs": {}, "checks": [], "problems": []}';
  v_inside text := _qwf.limit_inside(
    (p_child ->> 'graph')::bigint, array[p_node ->> 'limit_by']);
begin
  if p_child is not null then
    v_given := _qwf.step_inputs(p_node, p_path, p_child -> 'inputs', p_names);
  end if;
  if v_inside is not null then
    v_given := jsonb_set(v_given, '{problems}', (v_given -> 'problems') || jsonb_build_object(
      'path', p_path || '.limit_by',
      'problem', format('limit "%s" is inside itself: %s needs it, too', p_node ->> 'limit_by',
        v_inside),
      'hint', 'the run holds its place until it ends: leave out limit_by here or there'));
  end if;
  return v_given || jsonb_build_object('node', jsonb_build_object(
    'queue', 'qwf.runs', 'task', 'qwf.run:' || (p_node ->> 'workflow'),
    'workflow', p_node -> 'workflow', 'child_graph_id', p_child -> 'graph',
    'inputs', v_given -> 'inputs', 'has_refs', v_given ->> 'inputs' ~ '"[$]',
    'max_parallel', coalesce(nullif(p_max_parallel, 'null'),
      case when p_node ? 'map' then jsonb '100' end)));
end $$;

commit;
