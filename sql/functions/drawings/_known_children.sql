-- Deploy qwf:functions/drawings/_known_children
-- Purpose: Returns the workflows that the steps of a workflow run, with the schema of their inputs,
--   under workflow:NAME, for a preview.
-- Guarantees: Compiles nothing. An unknown name is left out.
-- Called by: workflow_graph.

begin;

create function _qwf.known_children(p_workflow jsonb, p_pipelines jsonb) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(jsonb_object_agg('workflow:' || w.name,
    jsonb_build_object('inputs', coalesce(w.definition -> 'inputs', '{}'))), '{}')
  from qwf.workflows w
  where w.current
    and w.name in (
      select i.item ->> 'workflow' from _qwf.items(p_workflow -> 'steps') i
      union all
      select i.item ->> 'workflow'
      from jsonb_each(p_pipelines) p cross join lateral _qwf.items(p.value -> 'nodes') i)
$$;

commit;
