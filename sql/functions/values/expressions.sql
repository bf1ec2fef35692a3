-- Expressions inside a value, and errors in their form.

-- Returns every expression inside a value, with its JSON path. An expression is an object with a
-- key that begins with $. What is under $value is data and is not searched. Column optional is
-- true inside a $coalesce or a $default. Visits each level of nesting once, up to level 51: what
-- holds an expression there is returned in its place.
create function _qwf.expressions(p_value jsonb, p_path text)
returns table (path text, expression jsonb, optional boolean, depth int)
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  if p_value is null or p_value::text !~ '"[$]' then
    return;
  end if;
  return query
    with recursive inner_value (path, value, optional, depth) as (
      select p_path, p_value, false, 0
      union all
      select child.path, child.value, outer_value.optional or child.optional, outer_value.depth + 1
      from inner_value outer_value
      cross join lateral (
        select outer_value.path || '.' || member.key as path, member.value, member.key = '$default'
            as optional
        from jsonb_each(_qwf.as_object(outer_value.value)) member
        where not outer_value.value ? '$value'
        union all
        select format('%s[%s]', outer_value.path, element.position - 1), element.value,
          outer_value.path like '%.$coalesce'
        from jsonb_array_elements(_qwf.as_list(outer_value.value))
          with ordinality as element (value, position)) child
      where outer_value.depth <= 50 and child.value::text ~ '"[$]'
    )
    select e.path, e.value, e.optional, e.depth
    from inner_value e
    where e.depth > 50
      or exists (
        select from jsonb_object_keys(_qwf.as_object(e.value)) k where starts_with(k, '$'));
end $$;

-- Returns what is wrong with the shape of one expression. Null for a well-formed expression.
-- Checks this object alone, not the values inside it; never raises.
create function _qwf.malformed(p_expression jsonb) returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_operator text := case
    when p_expression ? '$from' then '$from'
    when p_expression ? '$value' then '$value'
    when p_expression ? '$coalesce' then '$coalesce'
    when p_expression ? '$check' then '$check'
  end;
  v_allowed text[];
  v_unexpected text;
begin
  if v_operator is null then
    select k into v_unexpected  -- first what may be the mistyped operator
    from jsonb_object_keys(p_expression) k
    order by k in ('$default', '$filter', '$eq', '$ne'), k collate "C"
    limit 1;
    return format('"%s" is not an operator, or its operator is missing', v_unexpected);
  end if;
  v_allowed := case v_operator
    when '$check' then array['schema', 'input']
    when '$value' then array[]::text[]
    when '$coalesce' then array['$default']
    else array['$default', '$filter', '$eq', '$ne']
  end;
  select k into v_unexpected
  from jsonb_object_keys(p_expression - v_operator - v_allowed) k
  limit 1;
  if v_unexpected is not null then
    return format('"%s" is not allowed beside "%s"', v_unexpected, v_operator);
  elsif v_operator = '$coalesce' and jsonb_typeof(p_expression -> '$coalesce') <> 'array' then
    return '"$coalesce" is not a list';
  elsif v_operator = '$from' and _qwf.malformed_path(p_expression -> '$from') is not null then
    return _qwf.malformed_path(p_expression -> '$from');
  elsif p_expression ?& array['$eq', '$ne'] then
    return '"$eq" and "$ne" exclude each other';
  elsif jsonb_typeof(p_expression -> '$filter') <> 'object' then
    return '"$filter" is not an object';
  elsif p_expression ? '$filter' then
    return (
      select format('"$filter" key "%s" is neither "eq:<field>" nor "matches:<field>"', min(k))
      from jsonb_object_keys(p_expression -> '$filter') k
      where _qwf.filter_operator(k) is null
      having count(*) > 0);
  end if;
  return null;
end $$;

-- Returns what is wrong with the path of a $from. Null for a well-formed path: a text without an
-- empty segment, or a list of texts and integers. The first element of a list may also be an
-- expression, or a list of names to try; only compiled references have these two forms.
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

-- Returns the segments of the path of a $from as a definition writes it. Null for a malformed
-- path, and for the forms that only compiled references have.
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
