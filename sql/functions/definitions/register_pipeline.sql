-- Deploy qwf:functions/definitions/register_pipeline
-- Purpose: Registers a pipeline and makes this content the current version.
-- Guarantees: The same content is the same version. Nothing is written until everything that can be
--   checked has been checked. Existing runs keep the pipelines they were enqueued with.
-- Locks: definitions until commit, so that registrations run one after the other.
-- Raises: QW003, which lists all problems, each with its JSON path; 40001 if the caller uses
--   repeatable read and its snapshot is older than another registration of the name; a WARNING
--   names each workflow that no longer fits, and a NOTICE each skip_if that reads what may be
--   skipped.

begin;

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

commit;
