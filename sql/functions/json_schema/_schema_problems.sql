-- Deploy qwf:functions/json_schema/_schema_problems
-- Purpose: Reports where a value violates a schema.
-- Guarantees: Checks type, properties, required, additionalProperties, items, enum, bounds and
--   pattern. Returns one row per violation, at any depth, with its path. Never raises for a schema
--   that passed registration.
-- Called by: _answer_problems, _resolve_check, _definition_schema_problems, _step_inputs.

begin;

create function _qwf.schema_problems(p_value jsonb, p_schema jsonb, p_path text)
returns setof _qwf.problem
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_schema ? 'type' and not _qwf.is_type(p_value, p_schema -> 'type') then
    return next row(p_path, format('must be of type %s, not %s', array_to_string(
        array(select jsonb_array_elements_text('[]' || (p_schema -> 'type'))), ' or '),
      jsonb_typeof(p_value)), null)::_qwf.problem;
    return;
  elsif p_schema ? 'enum'
    and not exists (select from jsonb_array_elements(p_schema -> 'enum') e where e = p_value)
  then
    return next row(p_path, format('must be one of %s', p_schema -> 'enum'), null)::_qwf.problem;
  end if;
  case jsonb_typeof(p_value)
    when 'object' then
      return query
        select _qwf.member_path(p_path, r.name), 'is missing', null::text
        from jsonb_array_elements_text(coalesce(p_schema -> 'required', '[]')) r (name)
        where not p_value ? r.name;
      return query
        select p.*
        from jsonb_each(p_value) member
        cross join lateral _qwf.schema_problems(
          member.value, p_schema -> 'properties' -> member.key,
          _qwf.member_path(p_path, member.key)) p
        where p_schema -> 'properties' ? member.key;
      return query
        select _qwf.member_path(p_path, k), 'is not a property of the schema', null::text
        from jsonb_object_keys(p_value) k
        where p_schema -> 'additionalProperties' = 'false'
          and not coalesce(p_schema -> 'properties' ? k, false);
    when 'array' then
      return query
        select p.*
        from jsonb_array_elements(p_value) with ordinality as element (value, position)
        cross join lateral _qwf.schema_problems(
          element.value, p_schema -> 'items', format('%s[%s]', p_path, element.position - 1)) p
        where p_schema ? 'items';
    else
      return query select p_path, s, null::text from _qwf.scalar_problems(p_value, p_schema) s;
  end case;
end $$;

commit;
