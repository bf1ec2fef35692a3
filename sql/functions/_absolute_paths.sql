-- Deploy qwf:functions/_absolute_paths
-- requires: schema/qwf
-- Purpose: The paths of all references in a compiled value, which start from a node, several nodes, $context or $files.
-- Guarantees: A path that starts from an expression gives the paths inside that expression. $value is data.
-- Called by: _reads, _step_inputs.

begin;

create function qwf._absolute_paths(p_value jsonb) returns setof jsonb
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  with recursive inner_value (value) as (
    select p_value where p_value::text ~ '"\$from"'
    union all
    select child.value
    from inner_value outer_value
    cross join lateral (
      select m.value
      from jsonb_each(case when jsonb_typeof(outer_value.value) = 'object' and not outer_value.value ? '$value'
        then outer_value.value else '{}' end) m
      union all
      select e.value
      from jsonb_array_elements(case jsonb_typeof(outer_value.value) when 'array' then outer_value.value else '[]' end) e
    ) child
    where child.value::text ~ '"\$from"'
  )
  select v.value -> '$from'
  from inner_value v
  where jsonb_typeof(v.value) = 'object' and not v.value ? '$value'
    and jsonb_typeof(v.value -> '$from' -> 0) in ('string', 'array')
$$;

comment on function qwf._absolute_paths(jsonb) is 'Returns the path of every reference in a compiled value.';
revoke all on function qwf._absolute_paths(jsonb) from public;

commit;
