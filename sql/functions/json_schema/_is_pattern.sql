-- Deploy qwf:functions/json_schema/_is_pattern
-- Purpose: True when a value is a string that compiles as a regular expression.
-- Guarantees: Never raises. Only this function tries out a pattern.
-- Called by: _apply_filter, _checked, _expression_problems.

begin;

create function _qwf.is_pattern(p_value jsonb) returns boolean
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  perform '' ~ (p_value #>> '{}');
  return jsonb_typeof(p_value) is not distinct from 'string';
exception
  when invalid_regular_expression then
    return false;
end $$;

commit;
