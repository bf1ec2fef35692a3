-- Deploy qwf:functions/definitions/_misfits
-- Purpose: Reports where a value does not fit a part of the JSON Schema of definitions.
-- Guarantees: Walks the value level by level, so that a deep one needs no deep stack, and reports
--   in the order of the value. What x-last names is checked where nothing else is wrong. Never
--   raises.
-- Called by: _misfits_at, _pipeline_problems, _schema_parts, _without_bad_keys,
--   _workflow_problems.

begin;

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

commit;
