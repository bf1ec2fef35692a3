-- Deploy qwf:functions/shared/_requires_problem
-- Purpose: Returns what is wrong with the labels that a job or a node requires, or null.
-- Guarantees: Only texts pass, because agents announce texts: a job that requires the number 5
--   would wait forever for a worker with the label "5". Expects an object.
-- Called by: _checked, _job_problem.

begin;

create function _qwf.requires_problem(p_requires jsonb) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select format('label "%s" must be a text, not of type %s%s', left(label.key, 200),
    jsonb_typeof(label.value),
    case
      when jsonb_typeof(label.value) in ('number', 'boolean')
        then format(': write "%s"', left(label.value::text, 200))
      when jsonb_typeof(label.value) = 'object' then ': references are not resolved here' end)
  from jsonb_each(p_requires) label
  where jsonb_typeof(label.value) <> 'string'
  order by label.key
  limit 1
$$;

commit;
