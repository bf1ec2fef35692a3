-- Deploy qwf:functions/dags/_child_names
-- Purpose: Returns the workflows that a workflow runs as runs of its own: by its steps, and by the
--   nodes of the current versions of its pipelines.
-- Called by: register_pipeline, register_workflow, _graph_for, _nesting_problems, _recompile,
--   _recompile_parents.

begin;

create function _qwf.child_names(p_workflows text[], p_pipelines text[]) returns text[]
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select array(
    select c from unnest(p_workflows) c
    union
    select c from qwf.pipelines p cross join lateral unnest(p.workflow_names) c
    where p.name = any (p_pipelines) and p.current and p.workflow_names <> '{}')
$$;

commit;
