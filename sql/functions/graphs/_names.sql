-- Deploy qwf:functions/graphs/_names
-- Purpose: The first segments of all references in a value: the names it uses.
-- Guarantees: Each name once. Read off the text, so there may be names of what is only data as
--   well.
-- Called by: _step_names.

begin;

create function _qwf.names(p_value jsonb) returns setof text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
    select distinct found.name[1]
    from regexp_matches(p_value::text, '"\$?from": \[?"([^".]+)', 'g') found (name);
end $$;

commit;
