-- Deploy qwf:functions/definitions/_name_problems
-- Purpose: Reports an invalid name of a pipeline or a workflow.
-- Guarantees: A name that passes can be written as name@version.
-- Called by: _pipeline_problems, _workflow_problems.

begin;

create function _qwf.name_problems(p_definition jsonb) returns setof _qwf.problem
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select 'name', format('"%s" is not a valid name', p_definition ->> 'name'),
    'use 1 to 63 lower case letters, digits, dots, dashes and _, starting with a letter'
  where jsonb_typeof(p_definition -> 'name') = 'string'
    and p_definition ->> 'name' !~ '^[a-z][a-z0-9_.-]{0,62}$'
$$;

commit;
