-- Deploy qwf:functions/read/workflow_graph
-- Purpose: Returns the graph of a workflow to draw, and what a run of it needs in its context: of a
--   definition, as registering it would compile it, with every problem; or of a graph that is
--   stored, without compiling it.
-- Guarantees: Stores nothing, locks nothing. A definition with problems raises nothing: it gives as
--   much of its graph as can be compiled, without the nodes of a pipeline that has problems. What
--   register_workflow accepts has no problem here. A stored graph never changes, so a caller may
--   keep its document.

begin;

create function qwf.workflow_graph(
  workflow jsonb default null, pipelines jsonb default '{}', graph_id bigint default null)
returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_mergejoin = off
set jit = off
as $$
#variable_conflict use_column
declare
  v_workflow jsonb := workflow_graph.workflow;
  v_given constant jsonb := _qwf.as_object(workflow_graph.pipelines);
  v_known jsonb;  -- definitions by name, those that were given first
  v_versions jsonb;
  v_stored qwf.graphs;
  v_graph jsonb := '{"nodes": [], "edges": [], "checks": [], "problems": []}';
  v_nodes qwf.graph_nodes[];
  v_edges jsonb;
  v_problems _qwf.problem[] := '{}';
  v_bad jsonb := '[]';  -- problems of the pipelines that were given
  v_titles jsonb;
begin
  if v_workflow is null then
    select g.* into v_stored from qwf.graphs g where g.id = workflow_graph.graph_id;
    if not found then
      raise exception using errcode = 'QW001', message = 'no such graph',
        detail = format('graph %s', workflow_graph.graph_id),
        hint = 'column graph_id of qwf.runs has the graph of each run';
    end if;
    select w.definition into v_workflow from qwf.workflows w where w.id = v_stored.workflow_id;
    select jsonb_object_agg(p.name, p.definition),
      jsonb_object_agg(p.name, jsonb_build_object('version', p.version))
    into v_known, v_versions
    from qwf.pipelines p where p.id = any (v_stored.pipeline_ids);
    v_graph := jsonb_build_object('checks', v_stored.context_checks);
    v_nodes := array(
      select n from qwf.graph_nodes n where n.graph_id = v_stored.id order by n.idx);
    v_edges := (
      select jsonb_agg(jsonb_build_array(e.from_idx, e.to_idx) order by e.from_idx, e.to_idx)
      from _qwf.drawn_edges(v_stored.id) e);
  else
    perform _qwf.check_json('workflow', v_workflow, s.max_value_bytes),
      _qwf.check_json('pipelines', workflow_graph.pipelines, s.max_value_bytes)
    from qwf.settings s;
    select coalesce(jsonb_object_agg(p.name, p.definition) filter (where p.current), '{}')
        || v_given,
      jsonb_object_agg(p.name, jsonb_build_object('version', p.version))
        filter (where coalesce(p.definition = v_given -> p.name, p.current))
    into v_known, v_versions
    from qwf.pipelines p
    where p.name in (select i.item ->> 'pipeline' from _qwf.items(v_workflow -> 'steps') i);
    v_known := v_known || _qwf.known_children(v_workflow, v_known);
    v_bad := _qwf.given_problems(v_given) || case
      when jsonb_typeof(workflow_graph.pipelines) <> 'object'
        then jsonb '[{"path": "pipelines", "message": "must be an object of definitions by name"}]'
      else '[]' end;
    v_problems := array(select p from _qwf.workflow_problems(v_workflow, v_known) p);
    v_known := v_known - array(select b ->> 'pipeline' from jsonb_array_elements(v_bad) b);
    if jsonb_typeof(v_workflow -> 'steps') = 'array' then
      v_graph := _qwf.compile(_qwf.without_bad_keys(v_workflow), v_known);
    end if;
    v_nodes := array(
      select n from jsonb_populate_recordset(null::qwf.graph_nodes, v_graph -> 'nodes') n
      order by n.idx);
    v_problems := v_problems || array(
      select p from jsonb_populate_recordset(null::_qwf.problem, v_graph -> 'problems') p);
    v_edges := (  -- as _drawn_edges
      select jsonb_agg(e) from jsonb_array_elements(v_graph -> 'edges') e
      cross join lateral (
        select nullif(v_graph #> array['nodes', e ->> 1, 'compensates'], 'null') as targets) t
      where t.targets is null or t.targets ? (v_graph #>> array['nodes', e ->> 0, 'node_id']));
  end if;
  v_titles := _qwf.node_titles(v_workflow, v_known);
  return jsonb_build_object(
    'workflow', v_workflow -> 'name',
    'steps', _qwf.drawn_steps(v_workflow, v_versions),
    'nodes', (
      select coalesce(jsonb_agg(_qwf.drawn_node(n, v_titles ->> n.node_id)), '[]')
      from unnest(v_nodes) n),
    'edges', coalesce(v_edges, '[]'),
    'inputs', _qwf.graph_inputs(v_graph || jsonb_build_object('nodes', to_jsonb(v_nodes))),
    'problems', (
      select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
        'path', p.path, 'message', p.problem, 'hint', p.hint))), '[]')
      from unnest(v_problems) p) || v_bad);
end $$;

comment on function qwf.workflow_graph is
  'The graph that a workflow would compile to, and every problem of it, at its JSON path: steps, '
  'nodes, edges (pairs of idx), inputs (what a run reads of its context) and problems. pipelines: '
  'definitions by name, used instead of those registered. Without a workflow: the stored graph '
  'graph_id, as it was compiled; it never changes. Stores nothing. QW001: no such graph; QW005: '
  'too large, or nested too deeply.';
call _qwf.allow('qwf.workflow_graph', 'qwf_viewer');

commit;
