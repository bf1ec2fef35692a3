-- Places where a definition does not fit its JSON Schema, each with a sentence and a hint.

-- Reports where a value does not fit a part of the JSON Schema of definitions. Walks the value
-- level by level, so that a deep one needs no deep stack, and reports in the order of the value.
-- What x-last names is checked where nothing else is wrong. Never raises.
create function _qwf.misfits(p_value jsonb, p_schema jsonb, p_path text)
returns _qwf.problem[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  -- With none of these, a schema says nothing of other values and names no further schema.
  v_inner constant text[] :=
    '{$ref,allOf,if,items,properties,patternProperties,additionalProperties}';
begin
  if not p_schema ?| v_inner or p_schema ?| '{x-says,x-check}' then
    return _qwf.misfits_at(p_value, p_schema, p_path);
  end if;
  return array(
    with recursive place (value, schema, path, at) as (
      select p_value, p_schema, p_path, '{}'::int[]
      union all
      select b.value, b.schema, b.path, p.at || b.at
      from place p
      cross join lateral (
        select e.value, p.schema -> 'items', format('%s[%s]', p.path, e.nth - 1),
          array[1, e.nth::int]
        from jsonb_array_elements(_qwf.as_list(p.value)) with ordinality e (value, nth)
        where p.schema ? 'items'
        union all
        select e.value, s.schema, ltrim(p.path || '.' || e.key, '.'), array[1, e.nth::int]
        from jsonb_each(_qwf.as_object(p.value)) with ordinality e (key, value, nth)
        cross join lateral (
          select coalesce(p.schema #> array['properties', e.key], (
              select q.value from jsonb_each(p.schema -> 'patternProperties') q
              where e.key ~ q.key limit 1),
            nullif(p.schema -> 'additionalProperties', 'false')) as schema) s
        where s.schema is not null
        union all
        select p.value, s.schema, p.path, array[2, s.nth::int]
        from _qwf.schema_parts(p.value, p.schema) with ordinality s (schema, nth)
      ) b (value, schema, path, at)
      where p.schema ?| v_inner and not p.schema ?| '{x-says,x-check}'
        and case when p.schema ? 'type' then _qwf.is_type(p.value, p.schema -> 'type') else true end
    ), found as materialized (
      select p.at, m as problem
      from place p
      cross join lateral unnest(_qwf.misfits_at(p.value, p.schema, p.path)) m
    )
    select w.problem
    from (
      select f.at, f.problem from found f
      union all
      select p.at, m
      from place p
      cross join lateral unnest(_qwf.checked(p.value, p.schema -> 'x-last', p.path)) m
      where p.schema ? 'x-last'
        and not exists (select from found f where f.at[:cardinality(p.at)] = p.at)) w
    order by w.at);
end $$;

-- Reports how a value itself does not fit a part of the JSON Schema of definitions; the values
-- in it, and the further schemas that apply to it, are left to _misfits. Knows the keywords that
-- the schema uses, and no others. x-says is what is wrong with a value that does not fit for any
-- reason but its type; x-hint is its hint, x-at the key that it is about, %s the value. x-check
-- is what a schema cannot say, in place of the other keywords.
create function _qwf.misfits_at(p_value jsonb, p_schema jsonb, p_path text)
returns _qwf.problem[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_type constant text := jsonb_typeof(p_value);
  v_found _qwf.problem[] := '{}';
  v_wrong boolean;
begin
  if p_schema ? 'type' and not _qwf.is_type(p_value, p_schema -> 'type') then
    return array[row(p_path, format('must be of type %s, not %s', array_to_string(
      array(select jsonb_array_elements_text('[]' || (p_schema -> 'type'))), ' or '), v_type),
      null)::_qwf.problem];
  elsif p_schema ? 'x-says' then
    return case when _qwf.misfits(p_value, p_schema - '{type,x-says}'::text[], p_path) = '{}'
      then '{}' else array[row(
        ltrim(concat_ws('.', p_path, p_schema ->> 'x-at'), '.'),
        replace(p_schema ->> 'x-says', '%s', coalesce(p_value #>> '{}', '')),
        p_schema ->> 'x-hint')::_qwf.problem] end;
  elsif p_schema ? 'x-check' then
    return _qwf.checked(p_value, p_schema -> 'x-check', p_path);
  end if;
  v_wrong := p_schema = 'false' or coalesce(p_value <> p_schema -> 'const', false)
    or p_schema ? 'enum'
      and (v_type in ('object', 'array') or not p_schema -> 'enum' @> p_value)
    or coalesce(case v_type
      when 'number' then p_value < p_schema -> 'minimum' or p_value > p_schema -> 'maximum'
        or p_value <= p_schema -> 'exclusiveMinimum'
      when 'string' then p_value #>> '{}' !~ (p_schema ->> 'pattern')
        or length(p_value #>> '{}') < (p_schema ->> 'minLength')::int
        or length(p_value #>> '{}') > (p_schema ->> 'maxLength')::int
      when 'array' then p_schema ? 'minItems' and p_value = '[]'
        or jsonb_array_length(p_value) > (p_schema ->> 'maxItems')::int end, false)
    or p_schema ? 'not' and _qwf.misfits(p_value, p_schema -> 'not', p_path) = '{}';
  if p_schema ? 'anyOf' then
    v_wrong := v_wrong or not exists (
      select from jsonb_array_elements(p_schema -> 'anyOf') a
      where _qwf.misfits(p_value, a, p_path) = '{}');
  end if;
  if v_type = 'object' and p_schema ? 'propertyNames' then
    v_wrong := v_wrong or exists (
      select from jsonb_object_keys(p_value) k
      where _qwf.misfits(to_jsonb(k), p_schema -> 'propertyNames', p_path) <> '{}');
  end if;
  if v_wrong then
    v_found := array[row(p_path, 'is not allowed', null)::_qwf.problem];
  end if;
  if v_type = 'object' and p_schema ?| '{required,dependentRequired}' then
    v_found := v_found || array(
      select row(ltrim(p_path || '.' || k, '.'), 'is missing', null)::_qwf.problem
      from (
        select jsonb_array_elements_text(p_schema -> 'required')
        union all
        select jsonb_array_elements_text(d.value)
        from jsonb_each(p_schema -> 'dependentRequired') d where p_value ? d.key) needed (k)
      where not p_value ? k);
  end if;
  if v_type = 'object' and (p_schema -> 'unevaluatedProperties' = 'false'
    or p_schema -> 'additionalProperties' = 'false' and exists (
      select from jsonb_object_keys(p_value) k where not p_schema -> 'properties' ? k))
  then
    v_found := v_found || array(select u from _qwf.unknown_keys(p_value, p_schema, p_path) u);
  end if;
  return v_found;
end $$;

-- Reports what is wrong with a value where a JSON Schema cannot say it: the checks that x-check
-- and x-last name in the schema of definitions. A list of two keys wants the number of the first
-- not to be larger than that of the second. Where x-says has the sentence, the problem has no
-- text.
create function _qwf.checked(p_value jsonb, p_check jsonb, p_path text) returns _qwf.problem[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_minimum constant jsonb := p_value -> 'min_success';
  v_wrong boolean;
begin
  if jsonb_typeof(p_check) = 'array' then
    v_wrong := p_value -> (p_check ->> 0) > p_value -> (p_check ->> 1);
    return case when v_wrong then array[row(p_path, '', null)::_qwf.problem] else '{}' end;
  end if;
  case p_check #>> '{}'
    when 'duration' then v_wrong := _qwf.as_interval(p_value) is null;
    when 'pattern' then v_wrong := not _qwf.is_pattern(p_value);
    when 'backoff' then v_wrong := _qwf.backoff_seconds(p_value, 1) is null;
    when 'expression' then
      v_wrong := not exists (
        select from jsonb_object_keys(_qwf.as_object(p_value)) k where starts_with(k, '$'));
    when 'reachable' then
      v_wrong := jsonb_typeof(p_value -> 'map') = 'array' and jsonb_typeof(v_minimum) = 'number'
        and v_minimum > to_jsonb(jsonb_array_length(_qwf.as_list(p_value -> 'map')));
    when 'value' then
      return array(select p from _qwf.expression_problems(p_value, p_path) p);
    when 'path' then
      return array(
        select (p_path, p.problem, p.hint)::_qwf.problem
        from _qwf.expression_problems(jsonb_build_object('$from', p_value), p_path) p);
    when 'queue', 'limit' then
      return array(
        select p from _qwf.unknown_names(p_check #>> '{}', p_value #>> '{}', p_path) p);
    when 'requires' then
      return array(
        select (p_path, r.problem, r.hint)::_qwf.problem
        from (values
          (_qwf.requires_problem(p_value),
            'a worker has the labels of --label, which are texts, and the label "host"'),
          (case when octet_length(p_value::text) > 65536 then 'has more than 64 KiB' end, null)
        ) r (problem, hint)
        where r.problem is not null);
    when 'names' then
      return array(
        select (format('%s[%s].name', p_path, i.place - 1), format('"%s" is given twice', i.name),
          null)::_qwf.problem
        from (
          select l.place, l.item ->> 'name' as name,
            row_number() over (partition by l.item ->> 'name' order by l.place) as nth
          from _qwf.items(p_value) l) i
        where i.nth > 1 and i.name is not null);
    when 'members' then
      return array(
        select (format('%s.%s[%s]', p_path, k.key, r.place - 1), 'is not among the properties',
          null)::_qwf.problem
        from unnest('{required,properties_order}'::text[]) k (key)
        cross join lateral jsonb_array_elements(_qwf.as_list(p_value -> k.key))
          with ordinality as r (name, place)
        where jsonb_typeof(r.name) = 'string' and jsonb_typeof(p_value -> 'properties') = 'object'
          and not p_value -> 'properties' ? (r.name #>> '{}'));
    when 'default' then
      return array(
        select p from _qwf.schema_problems(p_value -> 'default', p_value, p_path || '.default') p
        where p_value ? 'default');
    when 'answer' then
      return array(
        select (p_path || regexp_replace(p.path, '^value', '.default'), p.problem,
          p.hint)::_qwf.problem
        from _qwf.answer_problems(  -- with a reference in them, only a run knows the options
          case when jsonb_build_array(p_value -> 'options', p_value -> 'source')::text ~ '"[$]'
            then p_value - array['widget', 'options'] else p_value end,
          p_value -> 'default') p
        where p_value -> 'default' <> 'null');
  end case;
  return case when v_wrong then array[row(p_path, '', null)::_qwf.problem] else '{}' end;
end $$;

-- Reports the keys of an object that its schema does not know. Known are the keys of every
-- schema that applies to the object. The hint is a similar key or, if there is none, all keys.
create function _qwf.unknown_keys(p_value jsonb, p_schema jsonb, p_path text)
returns setof _qwf.problem
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with recursive part (schema) as (
    select p_schema
    union all
    select s from part cross join lateral _qwf.schema_parts(p_value, part.schema) s
  ), known (name, is_refused) as (
    select p.key, p.value -> '$ref' is not distinct from '"#/$defs/of_a_node"'
    from part cross join lateral jsonb_each(part.schema -> 'properties') p
    union
    select k, false from part
    cross join lateral jsonb_object_keys(part.schema -> 'patternProperties') pattern
    join jsonb_object_keys(p_value) k on k ~ pattern
  ), names (every, shown) as (
    select array_agg(distinct k.name),
      string_agg(distinct k.name, ', ' order by k.name) filter (where not k.is_refused)
    from known k
  )
  select ltrim(p_path || '.' || k, '.'), 'unknown key',
    coalesce(_qwf.did_you_mean(k, n.every), 'known keys: ' || n.shown)
  from names n cross join jsonb_object_keys(p_value) k
  where k <> all (n.every)
$$;

-- Returns the further schemas that a part of the JSON Schema of definitions applies to the same
-- value. Of then and else, the one that holds for this value. Without a pinned search_path, so
-- that it is inlined.
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
