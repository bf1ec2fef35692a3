-- Deploy qwf:functions/graphs/_graph_for
-- Purpose: Returns the graph that a new run of a workflow executes, and compiles it if necessary.
-- Guarantees: The graph is for the named version of the workflow, or the current one, with the
--   current pipelines and the current workflows that its steps run. It is nearly always found with
--   two index lookups, because registering compiles. Locks no shared row. Gives a notice if a named
--   version of a workflow has graphs with other versions of its pipelines: the same name@version
--   runs something else then.
-- Raises: QW001 for an unknown workflow or version; QW003, with all problems, when the workflow no
--   longer fits its pipelines.
-- Called by: enqueue_run, retry_plan, retry_run, _current_children, _recompile_parents,
--   _work_problems.

begin;

create function _qwf.graph_for(p_workflow text) returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text := split_part(p_workflow, '@', 1);
  v_version text := substr(p_workflow, length(v_name) + 2);
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
    perform _qwf.raise_unknown_workflow(p_workflow);
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

commit;
