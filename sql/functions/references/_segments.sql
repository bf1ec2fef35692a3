-- Deploy qwf:functions/references/_segments
-- Purpose: Returns the segments of the path of a $from as a definition writes it.
-- Guarantees: Null for a malformed path, and for the forms that only compiled references have.
-- Called by: _absolute_reference, _context_needs, _due_problems, _expression_problems,
--   _notice_doubts, _pipeline_reference_problems, _reference_problems.

begin;

create function _qwf.segments(p_path jsonb) returns text[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if _qwf.malformed_path(p_path) is not null then
    return null;
  elsif jsonb_typeof(p_path) = 'string' then
    return string_to_array(p_path #>> '{}', '.');
  elsif jsonb_typeof(p_path -> 0) = 'string' then
    return array(select jsonb_array_elements_text(p_path));
  end if;
  return null;
end $$;

commit;
