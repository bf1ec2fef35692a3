-- Deploy qwf:functions/_malformed_path
-- requires: schema/qwf
-- Purpose: What is wrong with the path of a $from.
-- Guarantees: Null for a well-formed path: a text without an empty segment, or a list of texts and integers. The first
--   element of a list may also be an expression, or a list of names to try: forms that only compiled references have.
-- Called by: _malformed.

begin;

create function qwf._malformed_path(p_path jsonb) returns text
language sql immutable parallel safe
return case jsonb_typeof(p_path)
  when 'string' then
    case when '' = any (string_to_array(p_path #>> '{}', '.')) or p_path = '""'
      then '"$from" has an empty segment' end
  when 'array' then
    case
      when p_path = '[]' then '"$from" is an empty list'
      when exists (
        select from jsonb_array_elements(p_path) with ordinality as segment (value, position)
        where case jsonb_typeof(segment.value)
          when 'string' then false
          when 'number' then segment.value::text !~ '^-?[0-9]+$'
          when 'object' then segment.position > 1
          when 'array' then segment.position > 1 or segment.value = '[]'
            or jsonb_path_exists(segment.value, '$[*] ? (@.type() != "string")')
          else true
        end)
      then '"$from" holds something that is neither a name nor an integer'
    end
  else '"$from" is neither a text nor a list'
end;

comment on function qwf._malformed_path(jsonb) is 'What is wrong with the path of a $from; null: nothing.';
revoke all on function qwf._malformed_path(jsonb) from public;

commit;
