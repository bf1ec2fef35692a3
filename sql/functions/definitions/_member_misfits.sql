-- Deploy qwf:functions/definitions/_member_misfits
-- Purpose: Reports where the members of an object do not fit the schema of the object.
-- Guarantees: The hint for an unknown key is a similar key or, if there is none, all keys, those of
--   every schema that applies to the object.
-- Called by: _misfits.

begin;

create function _qwf.member_misfits(p_value jsonb, p_schema jsonb, p_path text)
returns _qwf.problem[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_found _qwf.problem[] := '{}';
  v_names text[];
  v_shown text;
begin
  if p_schema ?| '{properties,patternProperties,additionalProperties}' then
    v_found := array(
      select m
      from jsonb_each(p_value) e
      cross join lateral (
        select coalesce(p_schema #> array['properties', e.key], (
            select q.value from jsonb_each(p_schema -> 'patternProperties') q
            where e.key ~ q.key limit 1),
          nullif(p_schema -> 'additionalProperties', 'false')) as schema) s
      cross join lateral unnest(
        _qwf.misfits(e.value, s.schema, ltrim(p_path || '.' || e.key, '.'))) m
      where s.schema is not null);
  end if;
  if p_schema ?| '{required,dependentRequired}' then
    v_found := v_found || array(
      select row(ltrim(p_path || '.' || k, '.'), 'is missing', null)::_qwf.problem
      from (
        select jsonb_array_elements_text(p_schema -> 'required')
        union all
        select jsonb_array_elements_text(d.value)
        from jsonb_each(p_schema -> 'dependentRequired') d where p_value ? d.key) needed (k)
      where not p_value ? k);
  end if;
  if p_schema -> 'unevaluatedProperties' = 'false' or p_schema -> 'additionalProperties' = 'false'
    and exists (
      select from jsonb_object_keys(p_value) k where not p_schema -> 'properties' ? k)
  then
    with recursive part (schema) as (
      select p_schema
      union all
      select s from part cross join lateral _qwf.schema_parts(p_value, part.schema) s
    ), known (name, schema) as (
      select p.* from part cross join lateral jsonb_each(part.schema -> 'properties') p
      union
      select k, '{}' from part
      cross join lateral jsonb_object_keys(part.schema -> 'patternProperties') pattern
      join jsonb_object_keys(p_value) k on k ~ pattern
    )
    select array_agg(distinct k.name), string_agg(distinct k.name, ', ' order by k.name)
      filter (where k.schema -> '$ref' is distinct from '"#/$defs/of_a_node"')
    into v_names, v_shown
    from known k;
    v_found := v_found || array(
      select row(ltrim(p_path || '.' || k, '.'), 'unknown key',
        coalesce(_qwf.did_you_mean(k, v_names), 'known keys: ' || v_shown))::_qwf.problem
      from jsonb_object_keys(p_value) k where k <> all (v_names));
  end if;
  return v_found;
end $$;

commit;
