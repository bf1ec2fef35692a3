-- Deploy qwf:functions/definitions/register_workflow
-- Purpose: Registers a workflow and makes this content the current version.
-- Guarantees: The same content is the same version. Nothing is written until everything that can be
--   checked has been checked against the current pipelines. The graph is compiled here, so that the
--   first run does not have to.
-- Locks: definitions until commit, so that registrations run one after the other.
-- Raises: QW003, which lists all problems, each with its JSON path; 40001 if the caller uses
--   repeatable read and its snapshot is older than another registration of the name; a NOTICE names
--   each widget that is unknown.

begin;

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
  v_names text[];
  v_problems _qwf.problem[];
  v_graph jsonb;
  v_version qwf.workflows;
  v_before int;
begin
  perform _qwf.check_json('definition', register_workflow.definition, s.max_value_bytes)
  from qwf.settings s;
  perform _qwf.take_lock('definitions');
  v_names := array(
    select distinct (i.item ->> 'pipeline') collate "C"
    from _qwf.items(v_definition -> 'steps') i
    where i.item ->> 'kind' = 'pipeline' and i.item ? 'pipeline'
    order by 1);
  v_pipelines := _qwf.current_pipelines(v_names);
  v_problems := array(select p
    from _qwf.workflow_problems(register_workflow.definition, v_pipelines.definitions) p);
  if jsonb_typeof(v_definition -> 'steps') = 'array' then
    v_graph := _qwf.compile(_qwf.without_bad_keys(v_definition), v_pipelines.definitions);
    v_problems := v_problems || array(
      select p from jsonb_populate_recordset(null::_qwf.problem, v_graph -> 'problems') p);
  end if;
  perform _qwf.raise_problems('QW003', 'invalid workflow definition', v_problems);
  perform _qwf.notice_widgets(v_definition);

  select w.version into v_before
  from qwf.workflows w where w.name = v_definition ->> 'name' and w.current;
  update qwf.workflows w
  set current = false
  where w.name = v_definition ->> 'name' and w.current and w.definition <> v_definition;
  update qwf.workflows w
  set current = true
  where w.name = v_definition ->> 'name' and w.definition = v_definition
  returning * into v_version;
  if v_version.id is null then
    insert into qwf.workflows (name, version, definition, pipeline_names, digest, current)
    select v_definition ->> 'name', coalesce(max(w.version), 0) + 1, v_definition, v_names,
      encode(sha256(convert_to(v_definition::text, 'UTF8')), 'hex'), true
    from qwf.workflows w
    where w.name = v_definition ->> 'name'
    on conflict do nothing  -- a version that this snapshot cannot see: 40001, not 23505
    returning * into v_version;
  end if;
  perform _qwf.record_change('definition_changed', v_version.name,
    jsonb_build_object('version', v_before), jsonb_build_object('version', v_version.version),
    '{"of": "workflow"}');
  if not exists (
    select from qwf.graphs g
    where g.workflow_id = v_version.id and g.pipeline_ids = v_pipelines.ids
  ) then
    perform _qwf.store_graph(v_version.id, v_pipelines.ids, v_graph);
  end if;
  return v_version.version;
end $$;

comment on function qwf.register_workflow is
  'Registers a workflow, makes it current and returns its version; raises QW003 with all problems.';
call _qwf.allow('qwf.register_workflow', 'qwf_admin');

commit;
