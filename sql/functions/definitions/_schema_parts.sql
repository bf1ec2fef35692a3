-- Deploy qwf:functions/definitions/_schema_parts
-- Purpose: Returns the further schemas that a part of the JSON Schema of definitions applies to the
--   same value.
-- Guarantees: Of then and else, the one that holds for this value. Without a pinned search_path, so
--   that it is inlined.
-- Called by: _misfits, _unknown_keys.

begin;

create function _qwf.schema_parts(p_value jsonb, p_schema jsonb) returns setof jsonb
language sql stable
as $$
  select _qwf.definition_schema() -> '$defs' -> substr(p_schema ->> '$ref', 9)
  where p_schema ? '$ref'
  union all
  select a from jsonb_array_elements(p_schema -> 'allOf') a
  union all
  select coalesce(p_schema -> case when _qwf.misfits(p_value, p_schema -> 'if', '') = '{}'
    then 'then' else 'else' end, 'true')
  where p_schema ? 'if'
$$;

commit;
