-- Deploy qwf:functions/definitions/_preview_problems
-- Purpose: Returns the problems of a workflow that is not registered, and of the graph that it
--   compiles to, as JSON.
-- Guarantees: Never raises.
-- Called by: preview_graph.

begin;

create function _qwf.preview_problems(p_workflow jsonb, p_pipelines jsonb, p_graph jsonb)
returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
    'path', f.path, 'message', f.problem, 'hint', f.hint))), '[]')
  from (
    select p.* from _qwf.workflow_problems(p_workflow, p_pipelines) p
    union all
    select p.* from jsonb_populate_recordset(null::_qwf.problem, p_graph -> 'problems') p
  ) f
$$;

commit;
