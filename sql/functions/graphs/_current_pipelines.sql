-- Deploy qwf:functions/graphs/_current_pipelines
-- Purpose: Returns the ids and the definitions of the current versions of the named pipelines.
-- Guarantees: The ids are sorted by pipeline name, as graphs store them.
-- Called by: _graph_for, _recompile, register_workflow.

begin;

create function _qwf.current_pipelines(p_names text[], out ids bigint[], out definitions jsonb)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(array_agg(p.id order by p.name collate "C"), '{}'),
    coalesce(jsonb_object_agg(p.name, p.definition), '{}')
  from qwf.pipelines p
  where p.name = any (p_names) and p.current
$$;

commit;
