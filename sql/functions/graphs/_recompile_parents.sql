-- Deploy qwf:functions/graphs/_recompile_parents
-- Purpose: Compiles the workflows whose steps run a workflow that has changed, so that the first
--   run does not have to.
-- Guarantees: One that no longer fits is left alone and named in a WARNING. Enqueueing it raises
--   QW003 until one of the two is registered again in a form that fits.
-- Called by: _recompile, register_workflow, itself for the workflows above those.

begin;

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

commit;
