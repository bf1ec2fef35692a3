-- Workflows and pipelines registered. Locks: definitions, until commit, so that registrations
-- run one after the other.

-- Registers a workflow and makes this content the current version. The same content is the same
-- version. Nothing is written until everything that can be checked has been checked against the
-- current pipelines. The graph is compiled here, so that the first run does not have to.
-- Locks: definitions until commit, so that registrations run one after the other.
-- Raises: QW003, which lists all problems, each with its JSON path; 40001 if the caller uses
--   repeatable read and its snapshot is older than another registration of the name; a NOTICE
--   names each widget that is unknown, and each skip_if that reads what may be skipped.
create function qwf.register_workflow(definition jsonb) returns int
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  v_definition constant jsonb := case jsonb_typeof(register_workflow.definition)
    when 'object' then register_workflow.definition - '$schema' else '{}' end;
  v_pipelines record;
  v_children record;
  v_names text[];
  v_child_names text[];
  v_below text[];  -- with those that its pipelines run
  v_known jsonb;
  v_problems _qwf.problem[];
  v_graph jsonb;
  v_version qwf.workflows;
begin
  perform _qwf.check_json('definition', register_workflow.definition, s.max_value_bytes)
  from qwf.settings s;
  perform _qwf.take_lock('definitions');
  v_names := array(
    select distinct (i.item ->> 'pipeline') collate "C"
    from _qwf.items(v_definition -> 'steps') i
    where i.item ->> 'kind' = 'pipeline' and i.item ? 'pipeline'
    order by 1);
  v_child_names := _qwf.runs_below(v_definition -> 'steps');
  v_below := _qwf.child_names(v_child_names, v_names);
  perform _qwf.raise_problems('QW003', 'invalid workflow definition', array(
    select p from _qwf.nesting_problems(v_definition ->> 'name', v_below) p));
  v_pipelines := _qwf.current_pipelines(v_names);
  v_children := _qwf.current_children(v_below);
  v_known := v_pipelines.definitions || v_children.definitions;
  v_problems := array(select p
    from _qwf.workflow_problems(register_workflow.definition, v_known) p);
  if jsonb_typeof(v_definition -> 'steps') = 'array' then
    v_graph := _qwf.compile(_qwf.without_bad_keys(v_definition), v_known);
    v_problems := v_problems || array(
      select p from jsonb_populate_recordset(null::_qwf.problem, v_graph -> 'problems') p);
  end if;
  perform _qwf.raise_problems('QW003', 'invalid workflow definition', v_problems);
  perform _qwf.notice_doubts(v_definition -> 'steps');

  v_version := _qwf.store_workflow(v_definition, v_names, v_child_names);
  if not exists (
    select from qwf.graphs g
    where g.workflow_id = v_version.id and g.pipeline_ids = v_pipelines.ids
      and g.child_ids = v_children.ids
  ) then
    perform _qwf.store_graph(v_version.id, v_pipelines.ids, v_children.ids, v_graph);
  end if;
  perform _qwf.recompile_parents(v_version.name);
  return v_version.version;
end $$;
comment on function qwf.register_workflow is
  'Registers a workflow, makes it current and returns its version; raises QW003 with all problems.';
call _qwf.allow('qwf.register_workflow', 'qwf_admin');

-- Reports a workflow that would run itself, and runs that would be nested too deeply. Counts
-- down from the workflow and up to those that run it, so no tree of more than 8 levels below its
-- top can be registered, in whatever order.
create function _qwf.nesting_problems(p_name text, p_children text[])
returns setof _qwf.problem
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with recursive down (name, depth, path) as (
    select c, 1, p_name || ' -> ' || c from unnest(p_children) c
    union all
    select c, d.depth + 1, d.path || ' -> ' || c
    from down d
    join qwf.workflows w on w.name = d.name and w.current
    cross join lateral unnest(_qwf.child_names(w.workflow_names, w.pipeline_names)) c
    where d.name <> p_name and d.depth < 10
  ), up (name, depth) as (
    select p_name, 0
    union
    select w.name, u.depth + 1
    from up u join qwf.workflows w on w.current
      and u.name = any (_qwf.child_names(w.workflow_names, w.pipeline_names))
    where u.depth < 10
  ), cycle as (
    select min(d.path) as path from down d where d.name = p_name
  )
  select 'steps', 'cycle: ' || c.path, 'a workflow cannot run itself, not even through another one'
  from cycle c
  where c.path is not null
  union all
  select 'steps', 'runs are nested more than 8 deep',
    'make two levels one: a pipeline is part of the run'
  from cycle c
  where c.path is null
    and (select coalesce(max(d.depth), 0) from down d) + (select max(u.depth) from up u) > 8
$$;

-- Returns a workflow without the keys of its node steps that have problems, so that the rest can
-- be compiled and all problems are found at once. Keeps what compiling tolerates whatever it
-- holds: inputs, command, skip_if, map, repeat, delay. Never raises.
create function _qwf.without_bad_keys(p_workflow jsonb) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select p_workflow || jsonb_build_object('steps', jsonb_agg(
    case when _qwf.step_kind(_qwf.as_object(s.item)) in ('node', 'workflow') then
      s.item - array(
      select k.key
      from (
        select split_part(p.path, '.', 2) as key
        from unnest(_qwf.misfits(s.item, '{"$ref": "#/$defs/any_step"}', 'steps')) p) k
      where k.key not in (
        'id', 'kind', 'workflow', 'depends_on', 'inputs', 'command', 'skip_if', 'map',
        'repeat', 'delay'))
    else s.item end order by s.place))
  from jsonb_array_elements(p_workflow -> 'steps') with ordinality as s (item, place)
  having count(*) > 0
  union all
  select p_workflow where jsonb_array_length(p_workflow -> 'steps') = 0
$$;

-- Tells who registers a definition which of its widgets qwf does not know, and which skip_if
-- cannot be resolved if the step or node that it reads is skipped itself. Only notices: a front
-- end may have widgets of its own, and the two may never be skipped together. Of a widget it
-- names the keys that qwf does not know, one of which may be mistyped.
create function _qwf.notice_doubts(p_items jsonb) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_schemas constant jsonb := _qwf.definition_schema() -> '$defs';
  v_widgets constant jsonb := v_schemas #> '{widget,enum}';
  v_known constant jsonb := (v_schemas #> '{step,properties}')
    || (v_schemas #> '{input_step,properties}') || '{"options": 0, "multiple": 0}';
  v_step text;
  v_widget text;
  v_own text;  -- keys that only the front end knows
  v_read text;
  v_path text;
begin
  for v_step, v_widget, v_own in
    select i.id, i.item ->> 'widget', (
      select string_agg(k, ', ' order by k)
      from jsonb_object_keys(i.item) k
      where not v_known ? k)
    from _qwf.items(p_items) i
    where i.item ->> 'kind' = 'input' and not v_widgets ? (i.item ->> 'widget')
    order by i.place
  loop
    raise notice using message = format('step %I has the unknown widget %I', v_step, v_widget),
      detail = coalesce('only the front end reads its keys ' || v_own, 'it has no keys of its own'),
      hint = coalesce(
        _qwf.did_you_mean(v_widget, array(select jsonb_array_elements_text(v_widgets)))
          || ' if not: ', '')
        || 'its answers are checked by its "options" and its "schema" only';
  end loop;
  for v_step, v_read, v_path in
    select i.id, r.id, e.expression ->> '$from'
    from _qwf.items(p_items) i
    cross join lateral _qwf.expressions(i.item -> 'skip_if', 'skip_if') e
    join _qwf.items(p_items) r
      on r.id = split_part((_qwf.segments(e.expression -> '$from'))[1], '/', 1)
    where r.item -> 'skip_if' <> 'false' and not e.optional and not e.expression ? '$default'
    order by i.place, e.path
  loop
    raise notice using
      message = format('skip_if of %s reads %s, which may be skipped itself', v_step, v_read),
      detail = format('then "%s" leads nowhere, and %s fails', v_path, v_step),
      hint = 'give the reference a "$default": the value if that was skipped';
  end loop;
end $$;

-- Stores a version of a workflow, makes it current, and returns it. The same content is the same
-- version. Writes the event of a new or restored version.
-- Locks: the caller has the lock of definitions.
-- Raises: 40001 if the caller uses repeatable read and its snapshot is older than another
--   registration of the name.
create function _qwf.store_workflow(
  p_definition jsonb, p_pipelines text[], p_workflows text[])
returns qwf.workflows
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_version qwf.workflows;
  v_before int;
begin
  select w.version into v_before
  from qwf.workflows w where w.name = p_definition ->> 'name' and w.current;
  update qwf.workflows w
  set current = false
  where w.name = p_definition ->> 'name' and w.current and w.definition <> p_definition;
  update qwf.workflows w
  set current = true
  where w.name = p_definition ->> 'name' and w.definition = p_definition
  returning * into v_version;
  if v_version.id is null then
    insert into qwf.workflows (
      name, version, definition, pipeline_names, workflow_names, digest, current)
    select p_definition ->> 'name', coalesce(max(w.version), 0) + 1, p_definition, p_pipelines,
      p_workflows, encode(sha256(convert_to(p_definition::text, 'UTF8')), 'hex'), true
    from qwf.workflows w
    where w.name = p_definition ->> 'name'
    on conflict do nothing  -- a version that this snapshot cannot see: 40001, not 23505
    returning * into v_version;
  end if;
  perform _qwf.record_change('definition_changed', v_version.name,
    jsonb_build_object('version', v_before), jsonb_build_object('version', v_version.version),
    '{"of": "workflow"}');
  return v_version;
end $$;

-- Registers a pipeline and makes this content the current version. The same content is the same
-- version. Nothing is written until everything that can be checked has been checked. Existing
-- runs keep the pipelines they were enqueued with.
-- Locks: definitions until commit, so that registrations run one after the other.
-- Raises: QW003, which lists all problems, each with its JSON path; 40001 if the caller uses
--   repeatable read and its snapshot is older than another registration of the name; a WARNING
--   names each workflow that no longer fits, and a NOTICE each skip_if that reads what may be
--   skipped.
create function qwf.register_pipeline(definition jsonb) returns int
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  v_definition constant jsonb := case jsonb_typeof(register_pipeline.definition)
    when 'object' then register_pipeline.definition - '$schema' else '{}' end;
  v_version int;
  v_before int;
begin
  perform _qwf.check_json('definition', register_pipeline.definition, s.max_value_bytes)
  from qwf.settings s;
  perform _qwf.take_lock('definitions');
  perform _qwf.raise_problems('QW003', 'invalid pipeline definition',
    array(select p from _qwf.pipeline_problems(register_pipeline.definition) p));
  perform _qwf.notice_doubts(v_definition -> 'nodes');

  select p.version into v_before
  from qwf.pipelines p where p.name = v_definition ->> 'name' and p.current;
  update qwf.pipelines p
  set current = false
  where p.name = v_definition ->> 'name' and p.current and p.definition <> v_definition;
  update qwf.pipelines p
  set current = true
  where p.name = v_definition ->> 'name' and p.definition = v_definition
  returning p.version into v_version;
  if v_version is null then
    insert into qwf.pipelines (name, version, definition, workflow_names, digest, current)
    select v_definition ->> 'name', coalesce(max(p.version), 0) + 1, v_definition,
      _qwf.runs_below(v_definition -> 'nodes'),
      encode(sha256(convert_to(v_definition::text, 'UTF8')), 'hex'), true
    from qwf.pipelines p
    where p.name = v_definition ->> 'name'
    on conflict do nothing  -- a version that this snapshot cannot see: 40001, not 23505
    returning version into v_version;
  end if;
  perform _qwf.record_change('definition_changed', v_definition ->> 'name',
    jsonb_build_object('version', v_before), jsonb_build_object('version', v_version),
    '{"of": "pipeline"}');
  perform _qwf.raise_problems('QW003', 'invalid pipeline definition', array(
    select ('nodes', n.problem, n.hint)::_qwf.problem
    from qwf.workflows w
    cross join lateral _qwf.nesting_problems(
      w.name, _qwf.child_names(w.workflow_names, w.pipeline_names)) n
    where w.current and v_definition ->> 'name' = any (w.pipeline_names)));
  perform _qwf.recompile(v_definition ->> 'name');
  return v_version;
end $$;
comment on function qwf.register_pipeline is
  'Registers a pipeline, makes it current and returns its version; raises QW003 with all problems.';
call _qwf.allow('qwf.register_pipeline', 'qwf_admin');
