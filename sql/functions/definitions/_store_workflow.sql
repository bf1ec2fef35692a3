-- Deploy qwf:functions/definitions/_store_workflow
-- Purpose: Stores a version of a workflow, makes it current, and returns it.
-- Guarantees: The same content is the same version. Writes the event of a new or restored version.
-- Locks: the caller has the lock of definitions.
-- Raises: 40001 if the caller uses repeatable read and its snapshot is older than another
--   registration of the name.
-- Called by: register_workflow.

begin;

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

commit;
