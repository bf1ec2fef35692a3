-- Deploy qwf:functions/drawings/_drawn_steps
-- Purpose: Returns the steps of a workflow for a drawing: id, kind, title, pipeline and its
--   version, and the steps that each waits for.
-- Guarantees: In the order of the definition. p_versions has what is known of each pipeline, by
--   name. Never raises; a step without an id is left out.
-- Called by: run_graph, workflow_graph.

begin;

create function _qwf.drawn_steps(p_workflow jsonb, p_versions jsonb) returns jsonb
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
      'id', i.id, 'kind', _qwf.step_kind(i.item), 'title', i.item ->> 'display_name',
      'pipeline', i.item ->> 'pipeline', 'workflow', i.item ->> 'workflow'))
    || coalesce(p_versions -> (i.item ->> 'pipeline'), '{}')
    || jsonb_build_object('needs', (
      select coalesce(jsonb_agg(distinct split_part(n.needed, '/', 1)), '[]')
      from jsonb_array_elements_text(_qwf.as_list(
        coalesce(i.item -> 'depends_on', i.item -> 'compensates'))) n (needed)
      where n.needed is not null)) order by i.place), '[]')
  from _qwf.items(p_workflow -> 'steps') i
  where i.id is not null
$$;

commit;
