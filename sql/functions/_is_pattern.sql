-- Deploy qwf:functions/_is_pattern
-- Purpose: Whether a value is a text that compiles as a regular expression.
-- Guarantees: Never raises: this is the one place where a pattern is tried out.
-- Called by: _expression_problems, _filter, _keyword_problems, _question_rules.

begin;

create function qwf._is_pattern(p_value jsonb) returns boolean
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

revoke all on function qwf._is_pattern from public;

commit;
