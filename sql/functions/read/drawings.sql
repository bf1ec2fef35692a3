-- Graphs as drawings: of a run, of a stored workflow, of a draft.

-- Returns a run as a graph to draw: steps, nodes with their states, and edges. One snapshot. A
-- map is one node, with the number of its elements in each state. What does not change while the
-- run lives (steps, edges, and of each node all but its state) belongs to graph_id: a caller
-- that has drawn it asks for the states only.
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

-- Returns the state of each node of a run, and of a map how many of its elements are in which
-- state. One row for each node, none for an element. The elements of a map that completed
-- without a failure are not read.
create function _qwf.node_states(p_run_id bigint) returns table (idx int, state jsonb)
language sql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
  select n.idx, jsonb_strip_nulls(jsonb_build_object(
    'idx', n.idx, 'job_id', n.job_id, 'status', n.status, 'attempt', n.attempt,
    'progress', n.progress, 'message', n.message, 'error', n.error, 'worker', n.worker,
    'host', n.host, 'started_at', n.started_at, 'finished_at', n.finished_at,
    'waits_since', n.waits_since, 'elements', n.elements, 'child_run', n.child_run))
  from qwf.run_nodes n
  where n.run_id = p_run_id
$$;

-- Returns the display names of the nodes of a workflow, by the ids they have in a run. Only of
-- those that have one. Never raises, whatever the definitions hold.
create function _qwf.node_titles(p_workflow jsonb, p_pipelines jsonb) returns jsonb
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(jsonb_object_agg(named.id, left(named.title, 500)), '{}')
  from (
    select s.id || '/' || n.id as id, n.item ->> 'display_name' as title
    from _qwf.items(p_workflow -> 'steps') s
    cross join lateral _qwf.items(p_pipelines -> (s.item ->> 'pipeline') -> 'nodes') n
    union all
    select s.id, s.item ->> 'display_name'
    from _qwf.items(p_workflow -> 'steps') s
    where not s.item ? 'pipeline'
  ) named
  where named.id is not null and named.title is not null
$$;

-- Returns the steps of a workflow for a drawing: id, kind, title, pipeline and its version, and
-- the steps that each waits for. In the order of the definition. p_versions has what is known of
-- each pipeline, by name. Never raises; a step without an id is left out.
create function _qwf.drawn_steps(p_workflow jsonb, p_versions jsonb) returns jsonb
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
      'id', i.id, 'kind', _qwf.step_kind(i.item), 'title', i.item ->> 'display_name',
      'pipeline', i.item ->> 'pipeline', 'workflow', i.item ->> 'workflow'))
    || coalesce(p_versions -> (i.item ->> 'pipeline'), '{}')
    || jsonb_build_object('needs', (
      select coalesce(jsonb_agg(distinct split_part(n.needed, '/', 1)), '[]')
      from jsonb_array_elements_text(_qwf.as_list(
        coalesce(i.item -> 'depends_on', i.item -> 'compensates'))) n (needed)
      where n.needed is not null)) order by i.place), '[]')
  from _qwf.items(p_workflow -> 'steps') i
  where i.id is not null
$$;

-- Returns what a drawing of a graph shows of a node, whatever its state. Keys without a value
-- are left out. Holds no inputs and no list of a map, so a graph of 1,000 nodes stays small.
create function _qwf.drawn_node(p_node qwf.graph_nodes, p_title text) returns jsonb
language sql stable
as $$
  select jsonb_strip_nulls(jsonb_build_object(
    'idx', p_node.idx, 'id', p_node.node_id, 'step', p_node.step_id, 'title', p_title,
    'pipeline', p_node.pipeline, 'workflow', p_node.workflow,
    'task', coalesce(p_node.workflow, p_node.task),
    'queue', case when p_node.workflow is null then p_node.queue end,
    'model', p_node.required_model, 'vram_mb', p_node.vram_mb, 'limit_by', p_node.limit_by,
    'light', nullif(p_node.light, false), 'requires', nullif(p_node.requires, '{}'),
    'on_failure', nullif(p_node.on_failure, 'fail'), 'run_if', nullif(p_node.run_if, 'compensates'),
    'compensates', to_jsonb(p_node.compensates),
    'may_skip', nullif(coalesce(p_node.skip_if, 'false') <> 'false', false),
    'delay', p_node.delay, 'at_most_once', p_node.at_most_once,
    'repeat', case when p_node.repeat is not null then jsonb_build_object(
      'max', p_node.repeat -> 'max', 'every_s', extract(epoch from _qwf.as_interval(
        p_node.repeat -> 'every'))) end,
    'map', nullif(p_node.map is not null, false), 'max_parallel', p_node.max_parallel,
    'min_success', p_node.min_success,
    'stop_when_reached', nullif(p_node.stop_when_reached, false),
    'asks', case when p_node.input_spec is not null then jsonb_build_object(
      'widget', p_node.input_spec -> 'widget',
      'prompt', case jsonb_typeof(p_node.input_spec -> 'prompt')
        when 'string' then left(p_node.input_spec ->> 'prompt', 500) end) end))
$$;

-- Returns the edges of a graph that a drawing shows. Of those to a compensation node, only the
-- ones from what it takes back: it waits for all that follows, and nobody could read these
-- lines.
create function _qwf.drawn_edges(p_graph bigint) returns table (from_idx int, to_idx int)
language sql stable
as $$
  with compensation as materialized (
    select n.idx, n.compensates from qwf.graph_nodes n
    where n.graph_id = p_graph and n.compensates is not null
  )
  select e.from_idx, e.to_idx
  from qwf.graph_edges e
  left join compensation c on c.idx = e.to_idx
  where e.graph_id = p_graph
    and (c.idx is null or exists (
      select from qwf.graph_nodes f
      where f.graph_id = e.graph_id and f.idx = e.from_idx and f.node_id = any (c.compensates)))
$$;

-- Returns the graph of a workflow to draw, and what a run of it needs in its context: of a
-- definition, as registering it would compile it, with every problem; or of a graph that is
-- stored, without compiling it. Stores nothing, locks nothing. A definition with problems raises
-- nothing: it gives as much of its graph as can be compiled, without the nodes of a pipeline
-- that has problems. What register_workflow accepts has no problem here. A stored graph never
-- changes, so a caller may keep its document.
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

-- Returns the workflows that the steps of a workflow run, with the schema of their inputs, under
-- workflow:NAME, for a preview. Compiles nothing. An unknown name is left out.
create function _qwf.known_children(p_workflow jsonb, p_pipelines jsonb) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(jsonb_object_agg('workflow:' || w.name,
    jsonb_build_object('inputs', coalesce(w.definition -> 'inputs', '{}'))), '{}')
  from qwf.workflows w
  where w.current
    and w.name in (
      select i.item ->> 'workflow' from _qwf.items(p_workflow -> 'steps') i
      union all
      select i.item ->> 'workflow'
      from jsonb_each(p_pipelines) p cross join lateral _qwf.items(p.value -> 'nodes') i)
$$;

-- Returns what the context of a run gives to a compiled graph: each path that is read, whether a
-- run needs it, its schema and its fallback. Each path once, sorted. Required: without it
-- enqueue_run refuses the run; a path that is read only if a skip_if is not true, or that has a
-- fallback, is not. The schema is that of a pipeline input that is given this path and nothing
-- else.
create function _qwf.graph_inputs(p_graph jsonb) returns jsonb
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  with reading (path, required, schema, fallback) as (
    select c -> 'needs', c -> 'unless' = 'null', null::jsonb, null::jsonb
    from jsonb_array_elements(p_graph -> 'checks') c
    where c ? 'needs'
    union all
    select jsonb_path_query_array(e.expression -> '$from', '$[1 to last]'),
      not e.optional and not e.expression ? '$default',
      case when e.expression = c #> '{value,$check}' then c #> '{value,schema}' end,
      e.expression -> '$default'
    from jsonb_array_elements(p_graph -> 'checks') c
    cross join lateral _qwf.expressions(c -> 'value', '') e
    where e.expression -> '$from' ->> 0 = '$context'
    union all
    select jsonb_path_query_array(e.expression -> '$from', '$[1 to last]'), false, null,
      e.expression -> '$default'
    from jsonb_array_elements(p_graph -> 'nodes') n
    cross join lateral _qwf.expressions(jsonb_build_array(
      n -> 'inputs', n -> 'skip_if', n -> 'map', n -> 'input_spec', n -> 'repeat',
      n -> 'delay'), '') e
    where n::text ~ '"[$]context"' and e.expression -> '$from' ->> 0 = '$context'
  ), input as (
    select r.path, bool_or(r.required) as required,
      (array_agg(r.schema order by r.schema) filter (where r.schema is not null))[1] as schema,
      (array_agg(r.fallback order by r.fallback) filter (where r.fallback is not null))[1]
        as fallback
    from reading r
    where r.path <> '[]'
    group by r.path
  )
  select coalesce(jsonb_agg(jsonb_build_object('path', i.path, 'required', i.required)
    || case when i.schema is null then '{}' else jsonb_build_object('schema', i.schema) end
    || case when i.fallback is null then '{}' else jsonb_build_object('default', i.fallback) end
    order by i.path), '[]')
  from input i
$$;
