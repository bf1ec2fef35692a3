-- The graph that a run needs, stored or compiled now. A definition that changed is compiled
-- again, and so are its parents.

-- Returns the graph that a new run of a workflow executes, and compiles it if necessary. The
-- graph is for the named version of the workflow, or the current one, with the current pipelines
-- and the current workflows that its steps run. It is nearly always found with two index
-- lookups, because registering compiles. Locks no shared row. Gives a notice if a named version
-- of a workflow has graphs with other versions of its pipelines: the same name@version runs
-- something else then.
-- Raises: QW001 for an unknown workflow or version; QW003, with all problems, when the workflow
--   no longer fits its pipelines.
create function _qwf.graph_for(p_workflow text) returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text := split_part(p_workflow, '@', 1);
  v_version text := substr(p_workflow, length(v_name) + 2);
  v_last int;
  v_workflow qwf.workflows;
  v_pipelines record;
  v_children record;
  v_graph jsonb;
  v_id bigint;
begin
  select * into v_workflow
  from qwf.workflows w
  where w.name = v_name
    and case when v_name = p_workflow then w.current else w.version::text = v_version end;
  if v_workflow.id is null then
    v_last := (select max(w.version) from qwf.workflows w where w.name = v_name);
    raise exception using
      errcode = 'QW001',
      message = 'unknown workflow',
      detail = case when v_last is null then format('there is no workflow %L',
          left(p_workflow, 200))
        else format('workflow %L has versions 1 to %s', v_name, v_last) end,
      hint = case
        when v_last is not null then 'omit the version to get the current one'
        else coalesce(
          _qwf.did_you_mean(v_name, array(select w.name from qwf.workflows w where w.current)),
          'register it first: qwf apply DIR, or select qwf.register_workflow(''{...}'')')
      end;
  end if;
  v_children := _qwf.current_children(
    _qwf.child_names(v_workflow.workflow_names, v_workflow.pipeline_names));
  select g.id into v_id
  from qwf.graphs g
  where g.workflow_id = v_workflow.id and g.child_ids = v_children.ids
    and g.pipeline_ids = array(
      select p.id
      from qwf.pipelines p
      where p.name = any (v_workflow.pipeline_names) and p.current
      order by p.name collate "C")
  order by g.id
  limit 1;
  if v_id is null then
    v_pipelines := _qwf.current_pipelines(v_workflow.pipeline_names);
    v_graph := _qwf.compile(
      v_workflow.definition, v_pipelines.definitions || v_children.definitions);
    perform _qwf.raise_problems('QW003', 'workflow does not fit its pipelines',
      array(select p from jsonb_populate_recordset(null::_qwf.problem, v_graph -> 'problems') p));
    v_id := _qwf.store_graph(v_workflow.id, v_pipelines.ids, v_children.ids, v_graph);
  end if;
  if v_name <> p_workflow and exists (
    select from qwf.graphs g where g.workflow_id = v_workflow.id and g.id <> v_id) then
    raise notice using message = format('%s runs with the current pipelines', p_workflow),
      detail = format('it was also compiled with other versions of %s',
        array_to_string(v_workflow.pipeline_names, ', ')),
      hint = 'a version of a workflow fixes its steps; a run keeps the pipelines it began with';
  end if;
  return v_id;
end $$;

-- Returns the graphs of the current versions of named workflows, and what a step that runs one
-- has to know, under workflow:NAME: its graph and the schema of its inputs. The ids are sorted
-- by the name of the workflow, as graphs store them. Compiles a workflow whose pipelines have
-- changed. An unknown name is left out.
-- Raises: QW003 if one of them no longer fits its pipelines.
create function _qwf.current_children(p_names text[], out ids bigint[], out definitions jsonb)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_child record;
begin
  ids := '{}';
  definitions := '{}';
  for v_child in
    select w.name, w.definition -> 'inputs' as inputs, _qwf.graph_for(w.name) as graph
    from qwf.workflows w
    where w.name = any (p_names) and w.current
    order by w.name collate "C"
  loop
    ids := ids || v_child.graph;
    definitions := definitions || jsonb_build_object('workflow:' || v_child.name,
      jsonb_build_object('graph', v_child.graph, 'inputs', coalesce(v_child.inputs, '{}')));
  end loop;
end $$;

-- Returns the ids and the definitions of the current versions of the named pipelines. The ids
-- are sorted by pipeline name, as graphs store them.
create function _qwf.current_pipelines(p_names text[], out ids bigint[], out definitions jsonb)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(array_agg(p.id order by p.name collate "C"), '{}'),
    coalesce(jsonb_object_agg(p.name, p.definition), '{}')
  from qwf.pipelines p
  where p.name = any (p_names) and p.current
$$;

-- Stores a compiled graph, so that runs can point to it. Waits for no other session: two
-- sessions that store the same graph at the same time leave a harmless duplicate. The keys of a
-- node in p_graph are the columns of its row.
create function _qwf.store_graph(
  p_workflow_id bigint, p_pipeline_ids bigint[], p_child_ids bigint[], p_graph jsonb)
returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_node qwf.graph_nodes;  -- holds what all nodes share
begin
  insert into qwf.graphs (
    workflow_id, pipeline_ids, child_ids, node_count, compensation_count, context_checks, inputs,
    outputs, deadline)
  values (p_workflow_id, p_pipeline_ids, p_child_ids, jsonb_array_length(p_graph -> 'nodes'),
    jsonb_array_length(jsonb_path_query_array(p_graph, '$.nodes[*] ? (@.run_if == "compensates")')),
    p_graph -> 'checks', nullif(p_graph -> 'inputs', 'null'), nullif(p_graph -> 'outputs', 'null'),
    (p_graph ->> 'deadline')::interval)
  returning id into v_node.graph_id;
  insert into qwf.graph_nodes
  select n.* from jsonb_populate_recordset(v_node, p_graph -> 'nodes') n;
  insert into qwf.graph_edges (graph_id, from_idx, to_idx)
  select v_node.graph_id, (e -> 0)::int, (e -> 1)::int
  from jsonb_array_elements(p_graph -> 'edges') e;
  return v_node.graph_id;
end $$;

-- Compiles the current workflows that use a pipeline, after the pipeline has changed. A workflow
-- that no longer fits is left alone and named in a WARNING. Enqueueing it raises QW003 until one
-- of the two is registered again in a form that fits.
create function _qwf.recompile(p_pipeline text) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workflow qwf.workflows;
  v_pipelines record;
  v_children record;
  v_graph jsonb;
begin
  for v_workflow in
    select *
    from qwf.workflows w
    where w.current and p_pipeline = any (w.pipeline_names)
    order by w.name
  loop
    v_pipelines := _qwf.current_pipelines(v_workflow.pipeline_names);
    v_children := _qwf.current_children(
      _qwf.child_names(v_workflow.workflow_names, v_workflow.pipeline_names));
    if exists (
      select from qwf.graphs g
      where g.workflow_id = v_workflow.id and g.pipeline_ids = v_pipelines.ids
        and g.child_ids = v_children.ids
    ) then
      continue;
    end if;
    v_graph := _qwf.compile(
      v_workflow.definition, v_pipelines.definitions || v_children.definitions);
    if v_graph -> 'problems' = '[]' then
      perform _qwf.store_graph(v_workflow.id, v_pipelines.ids, v_children.ids, v_graph);
      perform _qwf.recompile_parents(v_workflow.name);
    else
      raise warning using
        message = format('workflow "%s" no longer fits pipeline "%s"', v_workflow.name, p_pipeline),
        detail = (select string_agg(format('%s: %s', p.path, p.problem), e'\n')
                  from jsonb_populate_recordset(null::_qwf.problem, v_graph -> 'problems') p),
        hint = 'correct the workflow, or register the old pipeline again; '
          'until then enqueue_run refuses this workflow';
    end if;
  end loop;
end $$;

-- Compiles the workflows whose steps run a workflow that has changed, so that the first run does
-- not have to. One that no longer fits is left alone and named in a WARNING. Enqueueing it
-- raises QW003 until one of the two is registered again in a form that fits.
create function _qwf.recompile_parents(p_workflow text) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text;
  v_detail text;
begin
  for v_name in
    select w.name from qwf.workflows w
    where w.current and p_workflow = any (
      _qwf.child_names(w.workflow_names, w.pipeline_names))
    order by w.name
  loop
    begin
      perform _qwf.graph_for(v_name);
      perform _qwf.recompile_parents(v_name);
    exception
      when sqlstate 'QW003' then
        get stacked diagnostics v_detail = pg_exception_detail;
        raise warning using
          message = format('workflow "%s" no longer fits workflow "%s"', v_name, p_workflow),
          detail = v_detail,
          hint = 'correct the workflow, or register the old one again; '
            'until then enqueue_run refuses this workflow';
    end;
  end loop;
end $$;
