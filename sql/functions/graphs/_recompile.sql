-- Deploy qwf:functions/graphs/_recompile
-- Purpose: Compiles the current workflows that use a pipeline, after the pipeline has changed.
-- Guarantees: A workflow that no longer fits is left alone and named in a WARNING. Enqueueing it
--   raises QW003 until one of the two is registered again in a form that fits.
-- Called by: register_pipeline.

begin;

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

commit;
