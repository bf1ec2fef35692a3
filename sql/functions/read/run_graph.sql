-- Deploy qwf:functions/read/run_graph
-- Purpose: Returns a run as a graph to draw: steps, nodes with their states, and edges.
-- Guarantees: One snapshot. A map is one node, with the number of its elements in each state. What
--   does not change while the run lives (steps, edges, and of each node all but its state) belongs
--   to graph_id: a caller that has drawn it asks for the states only.

begin;

create function qwf.run_graph(run_id bigint, states_only boolean default false) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_mergejoin = off
set jit = off
as $$
#variable_conflict use_column
declare
  v_run qwf.runs;
  v_workflow jsonb;
  v_pipelines jsonb;
  v_versions jsonb;
  v_titles jsonb;
  v_graph jsonb;
begin
  select r.* into v_run from qwf.runs r where r.id = run_graph.run_id;
  if not found then
    perform _qwf.raise_no_such_run(run_graph.run_id);
  end if;
  v_graph := jsonb_build_object(
    'run_id', v_run.id, 'graph_id', v_run.graph_id, 'workflow', v_run.workflow,
    'version', v_run.workflow_version, 'status', v_run.status, 'ending', v_run.ending);
  if run_graph.states_only then
    return v_graph || jsonb_build_object('nodes', (
      select coalesce(jsonb_agg(s.state order by s.idx), '[]')
      from _qwf.node_states(v_run.id) s));
  end if;
  select w.definition, p.definitions, p.versions into v_workflow, v_pipelines, v_versions
  from qwf.graphs g join qwf.workflows w on w.id = g.workflow_id
  cross join lateral (
    select jsonb_object_agg(u.name, u.definition) as definitions,
      jsonb_object_agg(u.name, jsonb_build_object('version', u.version, 'current_version', (
        select c.version from qwf.pipelines c where c.name = u.name and c.current))) as versions
    from qwf.pipelines u where u.id = any (g.pipeline_ids)) p
  where g.id = v_run.graph_id;
  v_titles := _qwf.node_titles(v_workflow, v_pipelines);
  return v_graph || jsonb_build_object(
    'steps', _qwf.drawn_steps(v_workflow, v_versions),
    'nodes', (
      select coalesce(jsonb_agg(
        _qwf.drawn_node(n, v_titles ->> n.node_id) || s.state order by n.idx), '[]')
      from _qwf.node_states(v_run.id) s
      join qwf.graph_nodes n on n.graph_id = v_run.graph_id and n.idx = s.idx),
    'edges', (
      select coalesce(jsonb_agg(jsonb_build_array(e.from_idx, e.to_idx)
        order by e.from_idx, e.to_idx), '[]')
      from _qwf.drawn_edges(v_run.graph_id) e));
end $$;
comment on function qwf.run_graph is
  'A run to draw: steps, nodes with their states, edges (pairs of idx); a map is one node that '
  'counts its elements by state. states_only: without what belongs to graph_id and never changes. '
  'QW001: no such run.';
call _qwf.allow('qwf.run_graph', 'qwf_producer', 'qwf_viewer');

commit;
