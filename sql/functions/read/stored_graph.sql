-- Deploy qwf:functions/read/stored_graph
-- Purpose: Returns a compiled graph to draw, and what a run of it needs in its context.
-- Guarantees: Compiles nothing: reads the rows that registering has stored. The document is that of
--   preview_graph for the same definitions, which have no problem. A graph never changes, so a
--   caller may keep its document. Locks nothing.

begin;

create function qwf.stored_graph(graph_id bigint) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_mergejoin = off
set jit = off
as $$
#variable_conflict use_column
declare
  v_graph qwf.graphs;
  v_workflow jsonb;
  v_pipelines jsonb;
  v_versions jsonb;
  v_titles jsonb;
begin
  select g.* into v_graph from qwf.graphs g where g.id = stored_graph.graph_id;
  if not found then
    raise exception using errcode = 'QW001', message = 'no such graph',
      detail = format('graph %s', stored_graph.graph_id),
      hint = 'column graph_id of qwf.runs has the graph of each run';
  end if;
  select w.definition into v_workflow from qwf.workflows w where w.id = v_graph.workflow_id;
  select jsonb_object_agg(p.name, p.definition),
    jsonb_object_agg(p.name, jsonb_build_object('version', p.version))
  into v_pipelines, v_versions
  from qwf.pipelines p where p.id = any (v_graph.pipeline_ids);
  v_titles := _qwf.node_titles(v_workflow, v_pipelines);
  return jsonb_build_object(
    'workflow', v_workflow -> 'name',
    'steps', _qwf.drawn_steps(v_workflow, v_versions),
    'nodes', (
      select coalesce(jsonb_agg(
        _qwf.drawn_node(n, v_titles ->> n.node_id) order by n.idx), '[]')
      from qwf.graph_nodes n where n.graph_id = v_graph.id),
    'edges', (
      select coalesce(jsonb_agg(jsonb_build_array(e.from_idx, e.to_idx)
        order by e.from_idx, e.to_idx), '[]')
      from _qwf.drawn_edges(v_graph.id) e),
    'inputs', _qwf.graph_inputs(jsonb_build_object('checks', v_graph.context_checks, 'nodes', (
      select coalesce(jsonb_agg(jsonb_build_object('inputs', n.inputs, 'skip_if', n.skip_if,
        'map', n.map, 'input_spec', n.input_spec, 'repeat', n.repeat,
        'delay', n.delay)), '[]')
      from qwf.graph_nodes n where n.graph_id = v_graph.id))),
    'problems', jsonb '[]');
end $$;

comment on function qwf.stored_graph is
  'A graph that is stored, to draw: what preview_graph gives for the versions that it was compiled '
  'from, without compiling them again. It never changes. QW001: no such graph.';
call _qwf.allow('qwf.stored_graph', 'qwf_viewer');

commit;
