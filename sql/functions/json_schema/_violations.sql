-- Deploy qwf:functions/json_schema/_violations
-- Purpose: Finds the first places where a value violates a schema.
-- Guarantees: Checks type, properties, required, additionalProperties, items, enum, bounds and
--   pattern. Returns one row per violation, at any depth, with its path. Each query stops after 21
--   rows, and so does what it calls: a list of 340,000 wrong elements costs as much as one of 21.
--   Never raises for a schema that passed registration.
-- Called by: _schema_problems, itself.

begin;

create function _qwf.violations(p_value jsonb, p_schema jsonb, p_path text)
returns setof _qwf.problem
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_items jsonb := p_schema -> 'items';
  v_properties jsonb := p_schema -> 'properties';
begin
  if p_schema ? 'type' and not _qwf.is_type(p_value, p_schema -> 'type') then
    return next row(p_path, format('must be of type %s, not %s', array_to_string(
        array(select jsonb_array_elements_text('[]' || (p_schema -> 'type'))), ' or '),
      jsonb_typeof(p_value)), null)::_qwf.problem;
    return;
  elsif p_schema ? 'enum' and not (
    jsonb_typeof(p_value) not in ('object', 'array') and p_schema -> 'enum' @> p_value
    or exists (select from jsonb_array_elements(p_schema -> 'enum') e where e = p_value))
  then
    return next row(p_path, 'must be one of '
      || left((p_schema -> 'enum')::text, 8000), null)::_qwf.problem;
  end if;
  case jsonb_typeof(p_value)
    when 'object' then
      return query
        select _qwf.member_path(p_path, r.name), 'is missing', null::text
        from jsonb_array_elements_text(coalesce(p_schema -> 'required', '[]')) r (name)
        where not p_value ? r.name
        limit 21;
      return query
        select p.*
        from jsonb_each(p_value) member
        cross join lateral _qwf.violations(
          member.value, v_properties -> member.key, _qwf.member_path(p_path, member.key)) p
        where v_properties ? member.key
          and not _qwf.is_right_scalar(member.value, v_properties -> member.key)
        limit 21;
      return query
        select _qwf.member_path(p_path, k), 'is not a property of the schema', null::text
        from jsonb_object_keys(p_value) k
        where p_schema -> 'additionalProperties' = 'false'
          and not coalesce(v_properties ? k, false)
        limit 21;
    when 'array' then
      return query
        select p.*
        from jsonb_array_elements(p_value) with ordinality as element (value, position)
        cross join lateral _qwf.violations(
          element.value, v_items, format('%s[%s]', p_path, element.position - 1)) p
        where v_items is not null and not _qwf.is_right_scalar(element.value, v_items)
        limit 21;
    else
      return query select p_path, s, null::text from _qwf.scalar_problems(p_value, p_schema) s;
  end case;
end $$;

commit;
