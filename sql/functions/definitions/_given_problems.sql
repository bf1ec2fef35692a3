-- Deploy qwf:functions/definitions/_given_problems
-- Purpose: Returns the problems of pipelines that are not registered, as JSON, each with the name
--   of its pipeline.
-- Guarantees: Never raises, whatever the definitions hold.
-- Called by: workflow_graph.

begin;

create function _qwf.given_problems(p_pipelines jsonb) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
    'pipeline', g.key, 'path', p.path, 'message', p.problem, 'hint', p.hint))), '[]')
  from jsonb_each(p_pipelines) g
  cross join lateral (
    select v.path, v.problem, v.hint from _qwf.pipeline_problems(g.value) v
    union all
    select 'name', format('is not "%s"', g.key), 'give the definition under its own name'
    where g.value ->> 'name' <> g.key) p
$$;

commit;
