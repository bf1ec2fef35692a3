-- A step compiled into nodes.

-- Compiles one step of a workflow: its nodes, what its name stands for downstream, its checks
-- and its problems. Tolerates an unknown pipeline (null): the step then has no nodes, and its
-- name stands for something unknown.
create function _qwf.compile_step(p_step jsonb, p_path text, p_pipeline jsonb, p_names jsonb)
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_id text := p_step ->> 'id';
  v_part jsonb := jsonb '{"nodes": [], "name": {"kind": "unknown"}}';
  v_inputs jsonb := _qwf.named_inputs(p_step -> 'inputs');
  v_read jsonb := p_step - array['schema', 'default'] || jsonb_build_object('inputs', v_inputs);
  v_problems _qwf.problem[] := array(
    select p from _qwf.reference_problems(v_read, p_path, p_names) p);
  v_given jsonb := jsonb '{"checks": []}';
  v_skip_if jsonb := _qwf.with_absolute_references(p_step -> 'skip_if', p_names);
  v_shape jsonb;
  v_names jsonb;
  v_parts jsonb := '{}';  -- of nodes, by id
begin
  if _qwf.step_kind(p_step) in ('node', 'workflow') then
    return _qwf.compile_node_step(p_step, p_path, p_pipeline, p_names);
  elsif p_step ->> 'kind' = 'input' then
    v_part := v_part || jsonb_build_object(
      'nodes', jsonb_build_array(_qwf.compile_question(p_step, p_names)),
      'name', jsonb_build_object('id', v_id, 'leaves', jsonb_build_array(v_id),
        'target', coalesce(p_step ->> 'target', 'value'),
        'is_option', p_step -> 'multiple' is distinct from 'true' and (
          select bool_and(o ? 'value' and o::text !~ '"[$]')
          from jsonb_array_elements(_qwf.offered(p_step)) o)));
  elsif p_pipeline is not null then
    v_given := _qwf.step_inputs(p_step, p_path, p_pipeline -> 'inputs', p_names);
    v_shape := _qwf.pipeline_shape(p_pipeline, v_id);
    v_names := p_names || (v_shape -> 'names')
      || jsonb '{"item": {"kind": "element"}, "index": {"kind": "element"}}'
      || jsonb_build_object('pipeline', jsonb_build_object(
        'kind', 'pipeline', 'inputs', v_given -> 'inputs',
        'declared', coalesce(p_pipeline #> '{inputs,properties}', '{}')));
    v_parts := _qwf.compile_node_parts(
      p_step, p_path, v_shape #> '{references,nodes}', p_pipeline -> 'children', v_names);
    v_problems := v_problems || array(select p from jsonb_populate_recordset(null::_qwf.problem,
      (v_given -> 'problems') || to_jsonb(array(select p from _qwf.reference_problems(
        v_shape -> 'references', p_path || '.pipeline', v_names) p))
      || jsonb_path_query_array(v_parts, '$.*.problems[*]')) p);
    v_part := v_part || jsonb_build_object('nodes', (
        select coalesce(jsonb_agg(_qwf.compile_node(n.node, p_step, v_skip_if, v_names)
              || coalesce(v_parts #> array[n.node ->> 'id', 'node'], '{}')
              || jsonb_build_object('depends_on', coalesce(n.node -> 'depends_on', '[]'))
              || case  -- the delay of the step, and after it that of a first node
                when p_step ? 'delay' and coalesce(n.node -> 'depends_on', '[]') = '[]'
                then jsonb_build_object('delay',
                  jsonb_build_array(_qwf.with_absolute_references(p_step -> 'delay', p_names))
                  || case when n.node ? 'delay' then jsonb_build_array(
                    _qwf.with_absolute_references(n.node -> 'delay', v_names)) else '[]' end)
                else '{}' end
            order by n.place), '[]')
        from jsonb_array_elements(v_shape -> 'nodes') with ordinality as n (node, place)),
      'name', jsonb_build_object('id', v_id, 'leaves', v_shape -> 'leaves',
          'nodes', v_shape -> 'names') || (
        select case when count(*) = 0 then '{}' else jsonb_build_object('exports',
          jsonb_object_agg(o.key, _qwf.with_absolute_references(o.value, v_names))) end
        from jsonb_each(p_pipeline -> 'outputs') o
        where exists (select from _qwf.expressions(o.value, ''))));
  end if;
  v_inputs := v_inputs - array(
    select c ->> 'name' from jsonb_array_elements(v_given -> 'checks') c);
  return v_part || jsonb_build_object('problems', to_jsonb(v_problems),
    'checks', (v_given -> 'checks') || jsonb_path_query_array(v_parts, '$.*.checks[*]')
      || _qwf.context_needs(v_read || jsonb_build_object('inputs', v_inputs),
        v_shape #> '{references,nodes}', p_names, v_names));
end $$;

-- Compiles a step that is one node, or runs a workflow: its row, the name it stands for, its
-- checks and its problems. The id of the row is the id of the step. What other steps wait for is
-- that row, and the row itself waits for what the step waits for. Only its inputs and its
-- command read the elements of its map, or the last turn, which the end of a repeat reads, too.
-- A step that runs a workflow is a job of the engine's queue; p_child is the graph of that
-- workflow and the schema of its inputs, null for a node or an unknown workflow.
create function _qwf.compile_node_step(
  p_step jsonb, p_path text, p_child jsonb, p_names jsonb)
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_id text := p_step ->> 'id';
  v_step jsonb := p_step || jsonb_build_object('inputs', _qwf.named_inputs(p_step -> 'inputs'));
  v_names jsonb := p_names || case when p_step ?| array['map', 'repeat']
    then jsonb '{"item": {"kind": "element"}, "index": {"kind": "element"}}' else '{}' end;
  v_problems _qwf.problem[] := array(
    select p
    from _qwf.reference_problems(v_step - array['inputs', 'command', 'repeat'], p_path, p_names) p
    union all
    select p
    from _qwf.reference_problems(
      jsonb_build_object('inputs', v_step -> 'inputs', 'command', v_step -> 'command',
        'repeat', v_step -> 'repeat'),
      p_path, v_names) p
    union all
    select (p_path || '.map', m.error, null)::_qwf.problem
    from _qwf.compile_map(p_step -> 'map', p_names) m
    where m.error not like 'malformed%'  -- _checked reports those
      and (jsonb_typeof(p_step -> 'map') = 'array'
        or exists (select from _qwf.expressions(p_step -> 'map', '') e where e.path = '')));
  v_given jsonb := jsonb '{"checks": [], "problems": []}';
  v_node jsonb := _qwf.compile_node(p_step, p_step, null, v_names)
    || jsonb_build_object('node_id', v_id, 'depends_on', jsonb '[]',
      'compensates', p_step -> 'compensates');
begin
  if p_step ->> 'kind' = 'workflow' then
    v_given := _qwf.compile_run(p_step, p_path, p_child, v_names, v_node -> 'max_parallel');
    v_step := jsonb_set(v_step, '{inputs}', (v_step -> 'inputs') - array(
      select c ->> 'name' from jsonb_array_elements(v_given -> 'checks') c));
    v_node := v_node || (v_given -> 'node');
  end if;
  return jsonb_build_object(
    'nodes', jsonb_build_array(v_node),
    'name', jsonb_build_object('id', v_id, 'leaves', jsonb_build_array(v_id)),
    'checks', (v_given -> 'checks') || _qwf.context_needs(v_step, null, v_names, v_names),
    'problems', to_jsonb(v_problems) || (v_given -> 'problems'));
end $$;

-- Returns the list that a node maps over, with absolute references. If the list needs nothing
-- from run time, it is resolved here, and the error says why it is not a list. The value is null
-- for a node without a map.
create function _qwf.compile_map(p_map jsonb, p_names jsonb) returns _qwf.resolution
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_map jsonb := _qwf.with_absolute_references(p_map, p_names);
  v_static _qwf.resolution;
begin
  if v_map is null or exists (select from _qwf.absolute_paths(v_map)) then
    return row(v_map, null)::_qwf.resolution;
  end if;
  v_static := _qwf.resolve(v_map, '{}');
  return row(
    case when v_map::text ~ '"[$]' then jsonb_build_object('$value', v_static.value) else v_map end,
    coalesce(v_static.error, case when jsonb_typeof(v_static.value) <> 'array'
      then format('gives a value of type %s, not a list', jsonb_typeof(v_static.value)) end)
  )::_qwf.resolution;
end $$;

-- Compiles one node of a pipeline into a row of graph_nodes, as JSON. Inputs that need nothing
-- from run time are resolved here, and has_refs is then false. Those of a map are not, because
-- they are resolved for each element anyway. A node that repeats is a map, of which the first
-- element is null. The node's own skip_if overrides the one of its step.
create function _qwf.compile_node(p_node jsonb, p_step jsonb, p_skip_if jsonb, p_names jsonb)
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_inputs jsonb := _qwf.with_absolute_references(_qwf.named_inputs(p_node -> 'inputs'), p_names);
  v_static _qwf.resolution;
begin
  if p_node ? 'command' then
    v_inputs := v_inputs
      || jsonb_build_object('command', _qwf.with_absolute_references(p_node -> 'command', p_names));
  end if;
  if v_inputs::text !~ '"[$]from": [[]' and not p_node ?| array['map', 'repeat'] then
    v_static := _qwf.resolve(v_inputs, '{}');
    v_inputs := coalesce(v_static.value, v_inputs);
  end if;
  return jsonb_build_object(
    'node_id', (p_step ->> 'id') || '/' || (p_node ->> 'id'),
    'step_id', p_step -> 'id',
    'pipeline', p_step -> 'pipeline',
    'task', case when p_node ? 'command' then '"command"'
      else coalesce(p_node -> 'node', p_node -> 'id') end,
    'queue', coalesce(p_node -> 'queue',
      case when p_node -> 'gpu' = 'true' then jsonb '"gpu"' else jsonb '"cpu"' end),
    'inputs', v_inputs,
    'has_refs', v_static.value is null and v_inputs::text ~ '"[$]',
    'skip_if', coalesce(_qwf.with_absolute_references(p_node -> 'skip_if', p_names),
      case when not p_node ? 'compensates' then p_skip_if end),
    'required_model', p_node -> 'model',
    'light', coalesce(p_node -> 'light', 'false'),
    'vram_mb', (p_node -> 'vram_mb')::int,
    'requires', coalesce(p_node -> 'requires', '{}'),
    'limit_by', p_node -> 'limit_by',
    'on_failure', coalesce(p_node -> 'on_failure', '"fail"'),
    'run_if', case when p_node ? 'compensates' then '"compensates"' else p_node -> 'run_if' end,
    'compensates', (
      select jsonb_agg((p_step ->> 'id') || '/' || c)
      from jsonb_array_elements_text(_qwf.as_list(p_node -> 'compensates')) c),
    'map', case when p_node ? 'repeat' then '[null]'
      else (_qwf.compile_map(p_node -> 'map', p_names)).value end,
    'delay', case when p_node ? 'delay' then jsonb_build_array(
      _qwf.with_absolute_references(p_node -> 'delay', p_names)) end,
    'repeat', _qwf.with_absolute_references(p_node -> 'repeat', p_names),
    'max_parallel', (p_node -> 'max_parallel')::int,
    'min_success', case jsonb_typeof(p_node -> 'min_success')
      when 'number' then (p_node -> 'min_success')::int::text
      else p_node ->> 'min_success' end,
    'stop_when_reached', p_node -> 'stop_when_reached',
    'at_most_once', p_node -> 'at_most_once',
    'options', nullif(jsonb_strip_nulls(jsonb_build_object(
      'max_attempts', (p_node #> '{retry,max_attempts}')::int,
      'max_losses', (p_node #> '{retry,max_losses}')::int,
      'backoff', p_node #> '{retry,backoff}',
      'timeout', _qwf.as_interval(p_node -> 'timeout'),
      'stall_timeout', _qwf.as_interval(p_node -> 'stall_timeout'))), '{}'));
end $$;

-- Compiles what is special in a step, or in a node of a pipeline, that runs a workflow: it is a
-- job of the engine's queue, and its inputs have to fit the workflow. Returns the columns of its
-- row, its checks and its problems. p_child is the graph of that workflow and the schema of its
-- inputs; null: it is unknown, which others report. Reads the graphs below for a limit that is
-- inside itself.
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

-- Returns what a step and its nodes need from the context of a run: every path that they read
-- without a fallback, with the place of the reference. Each path is returned once, with its
-- first reader. A reference with a $default, or inside a $coalesce or a $default, needs nothing.
-- What is read only if a skip_if is not true has that skip_if as "unless", and "later" if the
-- skip_if reads anything but the context.
create function _qwf.context_needs(
  p_step jsonb, p_nodes jsonb, p_step_names jsonb, p_node_names jsonb)
returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_skip_if jsonb := _qwf.with_absolute_references(p_step -> 'skip_if', p_step_names);
begin
  return (
    with reader (path, item, skip_if, names) as (
      select p_step ->> 'id', p_step, v_skip_if, p_step_names
      where p_step::text ~ '"[$]from"'
      union all
      select format('%s/%s', p_step ->> 'id', n ->> 'id'), n - 'outputs',
        coalesce(_qwf.with_absolute_references(n -> 'skip_if', p_node_names), v_skip_if),
        p_node_names
      from jsonb_array_elements(_qwf.as_list(p_nodes)) n
      where n::text ~ '"[$]from"'
    ), need as (
      select distinct on (s.segments, guard.skip_if) e.path, s.segments, guard.skip_if
      from reader r
      cross join lateral jsonb_each(r.item) m
      cross join lateral _qwf.expressions(m.value, r.path || '.' || m.key) e
      cross join lateral (
        select _qwf.segments(e.expression -> '$from') as segments offset 0) s
      cross join lateral (select case when m.key <> 'skip_if' then r.skip_if end as skip_if) guard
      where not e.optional and not e.expression ? '$default' and not r.names ? s.segments[1]
        and s.segments[1] <> 'run'
      order by s.segments, guard.skip_if, e.path
    )
    select coalesce(
      jsonb_agg(
        jsonb_build_object('path', n.path, 'needs', n.segments, 'unless', n.skip_if)
          || case when exists (
            select from _qwf.absolute_paths(n.skip_if) p where p -> 0 <> '"$context"')
          then '{"later": true}' else '{}' end::jsonb
        order by n.path), '[]')
    from need n);
end $$;

-- Compiles one input step into a row of graph_nodes, as JSON. The row has no queue, because
-- asking a person needs no worker. The schema and the default of the answer are data and are not
-- searched for references. expires becomes interval text.
create function _qwf.compile_question(p_step jsonb, p_names jsonb) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_spec jsonb := p_step - array['id', 'kind', 'depends_on', 'skip_if', 'delay',
    'display_name'];
begin
  select v_spec || coalesce(jsonb_object_agg(m.key, jsonb_build_object('$value', m.value)), '{}')
  into v_spec
  from jsonb_each(v_spec) m
  where m.key in ('schema', 'default');
  if p_step ? 'expires' then
    v_spec := v_spec || jsonb_build_object('expires', _qwf.as_interval(p_step -> 'expires'));
  end if;
  return jsonb_build_object(
    'node_id', p_step -> 'id',
    'step_id', p_step -> 'id',
    'task', 'input',
    'inputs', jsonb '{}',
    'has_refs', false,
    'light', false,
    'on_failure', 'fail',
    'requires', jsonb '{}',
    'delay', case when p_step ? 'delay' then jsonb_build_array(
      _qwf.with_absolute_references(p_step -> 'delay', p_names)) end,
    'skip_if', _qwf.with_absolute_references(p_step -> 'skip_if', p_names),
    'input_spec', _qwf.with_absolute_references(v_spec, p_names));
end $$;

-- Describes a pipeline as one step sees it: nodes in topological order, leaves, names of nodes,
-- and values that may hold references. A node is known by its own id and as step/node. A leaf is
-- a node that no other node depends on; compensation nodes do not count. The definition has been
-- registered, so it has no cycle and no duplicate id.
create function _qwf.pipeline_shape(p_pipeline jsonb, p_step_id text) returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_nodes jsonb := p_pipeline -> 'nodes';
  v_tails int[];
  v_heads int[];
  v_before int[];  -- nodes that others follow
  v_shape jsonb;
begin
  select array_agg(e.tail), array_agg(e.head) into v_tails, v_heads from _qwf.edges(v_nodes) e;
  v_before := array(
    select e.tail from unnest(v_tails, v_heads) e (tail, head)
    where not v_nodes -> (e.head - 1) ? 'compensates');
  with node as materialized (
    select i.item, i.place, o.position, i.id, p_step_id || '/' || i.id as node_id,
      not i.item ? 'compensates' and i.place <> all (v_before) as is_leaf
    from unnest(_qwf.topological(jsonb_array_length(v_nodes), v_tails, v_heads))
      with ordinality as o (place, position)
    join _qwf.items(v_nodes) i on i.place = o.place
  )
  select jsonb_build_object(
    'nodes', coalesce(jsonb_agg(n.item order by n.position), '[]'),
    'leaves', coalesce(jsonb_agg(n.node_id order by n.position) filter (where n.is_leaf), '[]'),
    'names', coalesce(
      jsonb_object_agg(n.id, stands_for.name) || jsonb_object_agg(n.node_id, stands_for.name),
      '{}'),
    'references', jsonb_build_object(
      'outputs', p_pipeline -> 'outputs',
      'nodes', jsonb_agg(
        n.item || jsonb_build_object('inputs', _qwf.named_inputs(n.item -> 'inputs'))
        order by n.place)))
  into v_shape
  from node n
  cross join lateral (
    select jsonb_build_object('id', n.node_id, 'leaves', jsonb_build_array(n.node_id)) as name
  ) stands_for;
  return v_shape;
end $$;

-- Returns what the step of a pipeline decides about its nodes, by their ids: the problems of
-- their maps, and for those that run workflows columns, checks and problems (see _compile_run).
-- p_children holds what is known of the workflows, by workflow:NAME. An unknown one is a
-- problem. Inputs of a node that may be skipped are checked when it runs.
create function _qwf.compile_node_parts(
  p_step jsonb, p_path text, p_nodes jsonb, p_children jsonb, p_names jsonb)
returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(jsonb_object_agg(n.node ->> 'id', coalesce(r.run, '{}') || jsonb_build_object(
    'problems', case when m.error is null then '[]' else jsonb_build_array(
        jsonb_build_object('path', p.path || '.map', 'problem', m.error)) end
      || case when r.run is null then '[]'
        when p.child is not null then r.run -> 'problems'
        else jsonb_build_array(jsonb_build_object('path', p.path || '.workflow',
          'problem', format('there is no workflow "%s"', n.node ->> 'workflow'),
          'hint', coalesce(_qwf.did_you_mean(n.node ->> 'workflow', array(
            select w.name from qwf.workflows w where w.current)),
            'register that workflow first'))) end)), '{}')
  from jsonb_array_elements(_qwf.as_list(p_nodes)) with ordinality n (node, place)
  cross join lateral _qwf.compile_map(n.node -> 'map', p_names) m
  cross join lateral (
    select format('%s.pipeline.nodes[%s]', p_path, n.place - 1) as path,
      p_children -> ('workflow:' || (n.node ->> 'workflow')) as child) p
  cross join lateral (select case when jsonb_typeof(n.node -> 'workflow') = 'string'
    then _qwf.compile_run(
      n.node || jsonb_build_object('id', (p_step ->> 'id') || '/' || (n.node ->> 'id'))
        || case when p_step ? 'skip_if' then jsonb_build_object('skip_if', p_step -> 'skip_if')
          else '{}' end,
      p.path, p.child, p_names, n.node -> 'max_parallel') end as run) r
  where m.error is not null or r.run is not null
$$;
