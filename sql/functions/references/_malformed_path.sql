-- Deploy qwf:functions/references/_malformed_path
-- Purpose: Returns what is wrong with the path of a $from.
-- Guarantees: Null for a well-formed path: a text without an empty segment, or a list of texts and
--   integers. The first element of a list may also be an expression, or a list of names to try;
--   only compiled references have these two forms.
-- Called by: _malformed, _segments.

begin;

create function _qwf.malformed_path(p_path jsonb) returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if jsonb_typeof(p_path) = 'string' then
    return case when p_path #>> '{}' ~ '(^|[.])([.]|$)' then '"$from" has an empty segment' end;
  elsif jsonb_typeof(p_path) is distinct from 'array' then
    return '"$from" is neither a text nor a list';
  elsif p_path = '[]' then
    return '"$from" is an empty list';
  elsif exists (
    select from jsonb_array_elements(p_path) with ordinality as segment (value, position)
    where case jsonb_typeof(segment.value)
      when 'string' then false
      when 'number' then segment.value::text !~ '^-?[0-9]+$'
      when 'object' then segment.position > 1
      when 'array' then segment.position > 1 or segment.value = '[]'
        or jsonb_path_exists(segment.value, 'strict $[*] ? (@.type() != "string")')
      else true
    end
  ) then
    return '"$from" holds something that is neither a name nor an integer';
  end if;
  return null;
end $$;

commit;
