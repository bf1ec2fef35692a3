-- Deploy qwf:functions/graphs/_checked
-- Purpose: A compiled value under a $check: what resolves it holds it against its schema.
-- Guarantees: The value itself where there is no schema, or an empty one.
-- Called by: _step_inputs.

begin;

create function _qwf.checked(p_value jsonb, p_schema jsonb, p_input text) returns jsonb
language sql immutable parallel safe
return case when p_schema <> '{}'
  then jsonb_build_object('$check', p_value, 'schema', p_schema, 'input', p_input)
  else p_value
end;

commit;
