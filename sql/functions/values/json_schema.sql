-- Problems of a value under a JSON Schema, and of the schema itself. Definitions, arguments and
-- answers are checked here.

-- Reports where a value violates a schema. Returns at most 20 violations, and a row that says so
-- if there are more. Never raises for a schema that passed registration.
create function _qwf.schema_problems(p_value jsonb, p_schema jsonb, p_path text)
returns setof _qwf.problem
language sql immutable
as $$
  select * from _qwf.first_problems(
    array(select v from _qwf.violations(p_value, p_schema, p_path) v limit 21), p_path)
$$;

-- Returns the first 20 problems of a value, and a row that says so if there are more. All texts
-- together have about 10,000 bytes at most: they become the detail of an error, which the log of
-- the server repeats. One problem alone may have 8,000 bytes.
create function _qwf.first_problems(p_problems _qwf.problem[], p_path text)
returns setof _qwf.problem
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select _qwf.clip(p.path, 4000 / cut.parts), _qwf.clip(p.problem, 8000 / cut.parts), p.hint
  from (select greatest(1, least(cardinality(p_problems), 20)) as parts) cut
  cross join lateral unnest(p_problems[:20]) with ordinality p (path, problem, hint, position)
  union all
  select p_path, 'has more problems: only the first 20 are listed', null
  where cardinality(p_problems) > 20
$$;

-- Finds the first places where a value violates a schema. Checks type, properties, required,
-- additionalProperties, items, enum, bounds and pattern. Returns one row per violation, at any
-- depth, with its path. Each query stops after 21 rows, and so does what it calls: a list of
-- 340,000 wrong elements costs as much as one of 21. Never raises for a schema that passed
-- registration.
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
      return query
        select p_path, rule.problem, null::text
        from (values
          ('string', length(p_value #>> '{}') < (p_schema ->> 'minLength')::int,
            format('must have at least %s characters', p_schema ->> 'minLength')),
          ('string', length(p_value #>> '{}') > (p_schema ->> 'maxLength')::int,
            format('must have at most %s characters', p_schema ->> 'maxLength')),
          ('string', p_value #>> '{}' !~ (p_schema ->> 'pattern'),
            format('must match %s', p_schema ->> 'pattern')),
          ('number', p_value < p_schema -> 'minimum',
            format('must be at least %s', p_schema ->> 'minimum')),
          ('number', p_value > p_schema -> 'maximum',
            format('must be at most %s', p_schema ->> 'maximum'))
        ) rule (type, violated, problem)
        where rule.type = jsonb_typeof(p_value) and rule.violated;
  end case;
end $$;

-- True when a value has the type, or one of the types, that a schema names. An integer is a
-- number without a fraction, however it is written; number includes integers.
create function _qwf.is_type(p_value jsonb, p_types jsonb) returns boolean
language sql immutable parallel safe
return p_types ? jsonb_typeof(p_value)
  or p_types ? 'integer'
    and case when jsonb_typeof(p_value) = 'number' then p_value::numeric % 1 = 0 else false end;

-- Returns the path of a member of an object, so that a program can split it again. A key with a
-- dot, a colon, a quote, a bracket, a backslash, white space or a control character, or without
-- a character, is written as ["key"], escaped as in JSON. A key of more than 200 characters is
-- cut.
create function _qwf.member_path(p_path text, p_key text) returns text
language sql immutable parallel safe
return p_path || case
  when left(p_key, 200) ~ e'[].:"[\\\\[:space:][:cntrl:]]' or p_key = ''
    then format('[%s]', to_json(left(p_key, 200)))
  else '.' || left(p_key, 200) end;

-- True when a value is neither an object nor a list and fits a schema that says nothing of the
-- text of a string. False says nothing: _violations looks. Takes a small part of the time of
-- _violations, so that a list of 300,000 right numbers does not keep a claim for seconds. One
-- expression, so that it is inlined.
create function _qwf.is_right_scalar(p_value jsonb, p_schema jsonb) returns boolean
language sql immutable parallel safe
return jsonb_typeof(p_value) not in ('object', 'array')
  and case jsonb_typeof(p_value)
    when 'number' then coalesce(p_value >= p_schema -> 'minimum', true)
      and coalesce(p_value <= p_schema -> 'maximum', true)
    when 'string' then not p_schema ?| '{minLength,maxLength,pattern}'
    else true end
  and case when p_schema ? 'type' then _qwf.is_type(p_value, p_schema -> 'type') else true end
  and case when p_schema ? 'enum' then p_schema -> 'enum' @> p_value else true end;

-- True when a value is a string that compiles as a regular expression. Never raises. Only this
-- function tries out a pattern.
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

-- Fills the defaults of a schema into a value, at any depth. Adds missing members only; changes
-- nothing that is there, not even a null. Never raises.
create function _qwf.with_defaults(p_value jsonb, p_schema jsonb) returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_schema::text !~ '"default"' then
    return p_value;
  elsif jsonb_typeof(p_value) = 'object' and jsonb_typeof(p_schema -> 'properties') = 'object' then
    return p_value || coalesce(
      (select jsonb_object_agg(property.key,
          _qwf.with_defaults(
            coalesce(p_value -> property.key, property.value -> 'default'), property.value))
       from jsonb_each(p_schema -> 'properties') property
       where p_value ? property.key or property.value ? 'default'),
      '{}');
  elsif jsonb_typeof(p_value) = 'array' and p_schema ? 'items' then
    return coalesce(
      (select jsonb_agg(_qwf.with_defaults(e.value, p_schema -> 'items') order by e.place)
       from jsonb_array_elements(p_value) with ordinality as e (value, place)),
      '[]');
  end if;
  return p_value;
end $$;
