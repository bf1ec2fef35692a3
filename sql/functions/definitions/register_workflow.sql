-- Deploy qwf:functions/definitions/register_workflow
-- Purpose: Registers a workflow and makes this content the current version.
-- Guarantees: The same content is the same version. Nothing is written until everything that can be
--   checked has been checked against the current pipelines. The graph is compiled here, so that the
--   first run does not have to.
-- Locks: definitions until commit, so that registrations run one after the other.
-- Raises: QW003, which lists all problems, each with its JSON path; 40001 if the caller uses
--   repeatable read and its snapshot is older than another registration of the name; a NOTICE names
--   each widget that is unknown, and each skip_if that reads what may be skipped.

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

commit;
