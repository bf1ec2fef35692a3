-- A workflow compiled into nodes and edges.

-- Compiles a workflow and its pipelines into one graph: nodes, edges, checks for enqueue_run,
-- deadline, inputs, outputs and problems. p_pipelines has the workflows that its steps run, too,
-- under workflow:NAME. Writes no table, and reads only the graphs of runs that its nodes start.
-- Visits each step once, dependencies first. Tolerates a workflow that has other problems, so
-- that all of them are found at once; the graph is valid only if there is no problem.
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

-- Returns the nodes that a step waits for, and the nodes that it may read in steps it only
-- partly waits for. The name of a step stands for its leaves or, if it has no nodes, for what
-- that step itself waits for. step/node stands for that node alone; partial then lists the node
-- and everything upstream of it in its step. partial also includes the partial lists of all
-- dependencies.
create function _qwf.step_dependencies(p_step jsonb, p_places jsonb, p_parts jsonb[]) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_waits jsonb;
  v_partial jsonb;
begin
  with dependency as materialized (
    select d.id, d.id like '%/%' as is_node,
      p_parts[(p_places -> split_part(d.id, '/', 1))::int] as part
    from (select distinct e as id
          from jsonb_array_elements_text(_qwf.as_list(
            coalesce(p_step -> 'depends_on', p_step -> 'compensates'))) e) d
  )
  select
    (select coalesce(jsonb_agg(distinct w.id), '[]')
     from dependency d
     cross join lateral jsonb_array_elements(
       case
         when d.is_node then
           case when d.part #> '{name,nodes}' ? d.id then jsonb_build_array(d.id) end
         when d.part -> 'nodes' = '[]' then d.part -> 'waits'
         else d.part #> '{name,leaves}'
       end) w (id)),
    (select coalesce(jsonb_object_agg(p.id, true), '{}')
     from (
       select jsonb_object_keys(_qwf.upstream_nodes(d.part -> 'nodes', d.id)) as id
       from dependency d
       where d.is_node and d.part #> '{name,nodes}' ? d.id
       union
       select jsonb_object_keys(d.part -> 'partial') from dependency d) p)
  into v_waits, v_partial;
  return jsonb_build_object('waits', v_waits, 'partial', v_partial);
end $$;

-- Finds what each name that a step and its pipeline use stands for: a step or node upstream, or
-- a problem. Names that are not steps are left out: they are nodes of the pipeline itself, its
-- inputs, or run context.
create function _qwf.step_names(
  p_value jsonb, p_place int, p_order int[], p_places jsonb, p_parts jsonb[],
  p_upstream bit varying, p_waits jsonb)
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_names jsonb := jsonb '{}';
  v_name text;
  v_step text;
  v_place int;
  v_known jsonb;
  v_problem text;
  v_hint text;
begin
  for v_name in  -- read from the text, so data may add names that are not used
    select distinct found.first_segment[1]
    from regexp_matches(p_value::text, '"[$]?from": [[]?"([^".]+)', 'g') found (first_segment)
  loop
    v_step := split_part(v_name, '/', 1);
    v_place := (p_places -> v_step)::int;
    continue when v_place is null;
    v_known := p_parts[v_place] -> 'name';
    v_problem := null;
    v_hint := null;
    if v_place = p_place then
      v_problem := format('"%s" belongs to the same step', v_name);
    elsif v_known is null and not v_place = any (p_order) or v_known ->> 'kind' = 'unknown' then
      v_known := jsonb '{"kind": "unknown"}';  -- a cycle or no pipeline: reported elsewhere
    elsif v_name <> v_step and not coalesce(v_known -> 'nodes' ? v_name, v_known is null) then
      v_problem := format('there is no "%s"', v_name);
      v_hint := _qwf.did_you_mean(v_name, array(
        select k from jsonb_object_keys(v_known -> 'nodes') k where k like '%/%'));
    elsif v_known is null
      or get_bit(p_upstream, v_place - 1) = 0 and not p_waits -> 'partial' ? v_name
    then
      v_problem := format('step "%s" is not upstream: add "%s" to depends_on', v_step, v_step);
      v_hint := 'a reference does not create a dependency; add the step to depends_on'
        ' (a compensation node reads only what it takes back, and what comes before that)';
    elsif v_name <> v_step then
      v_known := v_known -> 'nodes' -> v_name;
    end if;
    v_names := v_names || jsonb_build_object(v_name, case when v_problem is null
      then v_known - 'nodes'
      else jsonb_build_object('kind', 'unknown', 'problem', v_problem, 'hint', v_hint) end);
  end loop;
  return v_names;
end $$;

-- Joins the compiled steps of a workflow into one graph: positions, edges, and what each node
-- reads. Steps come dependencies first, and so do the nodes of each step, so every edge points
-- to a higher idx. The source nodes of a pipeline wait for what their step waits for. If that
-- makes more than 200000 edges, the result has a problem instead of those edges.
create function _qwf.assemble(p_parts jsonb[]) returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
set enable_nestloop = off
as $$
declare
  v_graph jsonb;
begin
  with part as materialized (
    select p.place, p.part from unnest(p_parts) with ordinality as p (part, place)
  ), node as materialized (
    select (row_number() over (order by p.place, n.place) - 1)::int as idx, p.place, n.node,
      n.node ->> 'node_id' as id, coalesce(n.node -> 'depends_on', '[]') = '[]' as is_source
    from part p
    cross join lateral jsonb_array_elements(p.part -> 'nodes') with ordinality as n (node, place)
  ), crossing as materialized (
    select coalesce(sum(jsonb_array_length(p.part -> 'waits')), 0) as edges
    from part p
    join node n on n.place = p.place and n.is_source
  ), edge as materialized (
    select distinct f.idx as from_idx, t.idx as to_idx
    from node t cross join lateral jsonb_array_elements_text(t.node -> 'depends_on') d (id)
    join node f on f.id = (t.node ->> 'step_id') || '/' || d.id
    union all
    select f.idx, t.idx
    from part p
    cross join lateral jsonb_array_elements_text(p.part -> 'waits') w (id)
    join node f on f.id = w.id
    join node t on t.place = p.place and t.is_source
    where (select c.edges from crossing c) <= 200000
  ), incoming as (
    select e.to_idx, count(*) as edges from edge e group by e.to_idx
  ), reading as (
    select n.idx, coalesce(jsonb_agg(s.idx) filter (where s.idx is not null), '[]') as nodes,
      coalesce(jsonb_agg(r.id) filter (where r.is_files), '[]') as files,
      bool_or(r.id = '$run') as run
    from node n
    cross join lateral _qwf.nodes_read(jsonb_build_array(n.node -> 'map', n.node -> 'inputs',
        n.node -> 'skip_if', n.node -> 'input_spec', n.node -> 'repeat', n.node -> 'delay')) r
    left join node s on s.id = r.id and not r.is_files
    group by n.idx
  )
  select jsonb_build_object(
    'nodes', (
      select coalesce(jsonb_agg(n.node || jsonb_build_object(
        'idx', n.idx, 'dep_count', coalesce(i.edges, 0),
        'ref_nodes', coalesce(r.nodes, '[]'), 'ref_files', coalesce(r.files, '[]'),
        'reads_run', coalesce(r.run, false))), '[]')
      from node n
      left join incoming i on i.to_idx = n.idx
      left join reading r on r.idx = n.idx),
    'edges', (
      select coalesce(jsonb_agg(jsonb_build_array(e.from_idx, e.to_idx)), '[]') from edge e),
    'checks', jsonb_path_query_array(to_jsonb(p_parts), '$[*].checks[*]'),
    'problems', jsonb_path_query_array(to_jsonb(p_parts), '$[*].problems[*]') || (
      select coalesce(jsonb_agg(jsonb_build_object(
        'path', 'steps', 'problem', format('%s dependencies between nodes of steps', c.edges),
        'hint', 'put a pipeline of one node between two wide steps; the limit is 200000')), '[]')
      from crossing c
      where c.edges > 200000))
  into v_graph;
  return v_graph;
end $$;

-- Makes the references in the outputs of a workflow absolute, and reports those that lead
-- nowhere. Outputs may read every step and every node. Null for a workflow without outputs.
create function _qwf.compile_outputs(p_outputs jsonb, p_places jsonb, p_parts jsonb[])
returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_names jsonb := jsonb '{}';
  v_id text;
  v_name jsonb;
begin
  if p_outputs is null then
    return jsonb '{"problems": []}';
  end if;
  for v_id, v_name in
    select p.key, coalesce(p_parts[p.value::int] -> 'name', jsonb '{"kind": "unknown"}')
    from jsonb_each_text(p_places) p
  loop
    v_names := v_names || jsonb_build_object(v_id, v_name - 'nodes') || coalesce((
      select jsonb_object_agg(n.key, n.value)
      from jsonb_each(_qwf.as_object(v_name -> 'nodes')) n where n.key like '%/%'), '{}');
  end loop;
  return jsonb_build_object(
    'outputs', _qwf.with_absolute_references(p_outputs, v_names),
    'problems', (
      select coalesce(jsonb_agg(p), '[]')
      from _qwf.reference_problems(p_outputs, 'outputs', v_names) p));
end $$;
