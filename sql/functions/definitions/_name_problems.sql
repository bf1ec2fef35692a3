-- Deploy qwf:functions/definitions/_name_problems
-- Purpose: What is wrong with the name of a pipeline or a workflow.
-- Guarantees: A name that passes can be written as name@version.
-- Called by: _pipeline_problems, _workflow_problems.

begin;

create function _qwf.name_problems(p_definition jsonb) returns setof _qwf.problem
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select 'name', format('"%s" is not a name', p_definition ->> 'name'),
    'use lower case letters, digits, dot, dash and _, a letter first, at most 63'
  where jsonb_typeof(p_definition -> 'name') = 'string'
    and p_definition ->> 'name' !~ '^[a-z][a-z0-9_.-]{0,62}$'
$$;

commit;
