-- Deploy qwf:functions/definitions/_unknown_keys
-- Purpose: Reports the keys of an object that its schema does not know.
-- Guarantees: Known are the keys of every schema that applies to the object. The hint is a similar
--   key or, if there is none, all keys.
-- Called by: _misfits_at.

begin;

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

commit;
