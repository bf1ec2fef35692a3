-- Deploy qwf:functions/drawings/_node_titles
-- Purpose: Returns the display names of the nodes of a workflow, by the ids they have in a run.
-- Guarantees: Only of those that have one. Never raises, whatever the definitions hold.
-- Called by: run_graph, workflow_graph.

begin;

create function _qwf.node_titles(p_workflow jsonb, p_pipelines jsonb) returns jsonb
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(jsonb_object_agg(named.id, left(named.title, 500)), '{}')
  from (
    select s.id || '/' || n.id as id, n.item ->> 'display_name' as title
    from _qwf.items(p_workflow -> 'steps') s
    cross join lateral _qwf.items(p_pipelines -> (s.item ->> 'pipeline') -> 'nodes') n
    union all
    select s.id, s.item ->> 'display_name'
    from _qwf.items(p_workflow -> 'steps') s
    where not s.item ? 'pipeline'
  ) named
  where named.id is not null and named.title is not null
$$;

commit;
