-- Deploy qwf:functions/references/_filter_operator
-- Purpose: Returns the operator and the field of one $filter key, as {operator, field}.
-- Guarantees: Tries eq:field and matches:field first, then field:eq and field:matches; null for
--   anything else.
-- Called by: _expression_problems, _apply_filter, _malformed.

begin;

create function _qwf.filter_operator(p_key text) returns text[]
language sql immutable parallel safe
return case
  when p_key ~ '^(eq|matches):.' then
    array[split_part(p_key, ':', 1), substr(p_key, strpos(p_key, ':') + 1)]
  when p_key ~ '.:(eq|matches)$' then
    array[substring(p_key from '[a-z]+$'), regexp_replace(p_key, ':(eq|matches)$', '')]
end;

commit;
