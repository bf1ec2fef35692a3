-- Deploy qwf:functions/definitions/preview_graph
-- Purpose: Compiles a workflow as registering it would, and returns its graph, what a run of it
--   needs in its context, and every problem; stores nothing.
-- Guarantees: A definition with problems raises nothing: it gives as much of its graph as can be
--   compiled, without the nodes of a pipeline that has problems. What register_workflow accepts has
--   no problem here. Locks nothing.

begin;

create function qwf.preview_graph(workflow jsonb, pipelines jsonb default '{}') returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  v_workflow constant jsonb := preview_graph.workflow;
  v_given constant jsonb := _qwf.as_object(preview_graph.pipelines);
  v_known jsonb;  -- definitions by name, those that were given first
  v_versions jsonb;
  v_bad jsonb;
  v_usable jsonb;
  v_graph jsonb := '{"nodes": [], "edges": [], "checks": [], "problems": []}';
  v_titles jsonb;
begin
  perform _qwf.check_json('workflow', v_workflow, s.max_value_bytes),
    _qwf.check_json('pipelines', preview_graph.pipelines, s.max_value_bytes)
  from qwf.settings s;
  select coalesce(jsonb_object_agg(p.name, p.definition) filter (where p.current), '{}') || v_given,
    jsonb_object_agg(p.name, jsonb_build_object('version', p.version))
      filter (where coalesce(p.definition = v_given -> p.name, p.current))
  into v_known, v_versions
  from qwf.pipelines p
  where p.name in (select i.item ->> 'pipeline' from _qwf.items(v_workflow -> 'steps') i);
  v_known := v_known || _qwf.known_children(v_workflow, v_known);
  v_bad := _qwf.given_problems(v_given) || case
    when jsonb_typeof(preview_graph.pipelines) <> 'object'
      then jsonb '[{"path": "pipelines", "message": "must be an object of definitions by name"}]'
    else '[]' end;
  v_usable := v_known - array(select b ->> 'pipeline' from jsonb_array_elements(v_bad) b);
  if jsonb_typeof(v_workflow -> 'steps') = 'array' then
    v_graph := _qwf.compile(_qwf.without_bad_keys(v_workflow), v_usable);
  end if;
  v_titles := _qwf.node_titles(v_workflow, v_usable);
  return jsonb_build_object(
    'workflow', v_workflow -> 'name',
    'steps', _qwf.drawn_steps(v_workflow, v_versions),
    'nodes', (
      select coalesce(jsonb_agg(
        _qwf.drawn_node(n, v_titles ->> n.node_id) order by n.idx), '[]')
      from jsonb_populate_recordset(null::qwf.graph_nodes, v_graph -> 'nodes') n),
    'edges', (  -- as _drawn_edges
      select coalesce(jsonb_agg(e), '[]') from jsonb_array_elements(v_graph -> 'edges') e
      cross join lateral (
        select nullif(v_graph #> array['nodes', e ->> 1, 'compensates'], 'null') as targets) t
      where t.targets is null or t.targets ? (v_graph #>> array['nodes', e ->> 0, 'node_id'])),
    'inputs', _qwf.graph_inputs(v_graph),
    'problems', (
      select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
        'path', f.path, 'message', f.problem, 'hint', f.hint))), '[]')
      from (
        select p.* from _qwf.workflow_problems(v_workflow, v_known) p
        union all
        select p.* from jsonb_populate_recordset(null::_qwf.problem, v_graph -> 'problems') p
      ) f) || v_bad);
end $$;

comment on function qwf.preview_graph is
  'The graph that a workflow would compile to, and every problem of it, at its JSON path: steps, '
  'nodes, edges (pairs of idx), inputs (what a run reads of its context) and problems. pipelines: '
  'definitions by name, used instead of those registered. Stores nothing; QW005: too large, or '
  'nested too deeply.';
call _qwf.allow('qwf.preview_graph', 'qwf_viewer');

commit;
