-- Deploy qwf:functions/json_schema/_schema_problems
-- Purpose: Reports where a value violates a schema.
-- Guarantees: Returns at most 20 violations, and a row that says so if there are more. Never raises
--   for a schema that passed registration.
-- Called by: _answer_problems, _checked, _context_problems, _resolve_check, _step_inputs.

begin;

create function _qwf.schema_problems(p_value jsonb, p_schema jsonb, p_path text)
returns setof _qwf.problem
language sql immutable
as $$
  select * from _qwf.first_problems(
    array(select v from _qwf.violations(p_value, p_schema, p_path) v limit 21), p_path)
$$;

commit;
