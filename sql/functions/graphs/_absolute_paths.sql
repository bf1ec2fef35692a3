-- Deploy qwf:functions/graphs/_absolute_paths
-- Purpose: Returns the paths of all references in a compiled value.
-- Guarantees: Each path starts with a node id, a list of node ids, or a $ name such as $context,
--   $run or $files. If a path starts with an expression, the paths inside that expression are
--   returned instead. What stands under $value is data and is not searched.
-- Called by: _compile_map, _context_needs, _nodes_read, _reasons_to_run, _step_inputs.

begin;

create function _qwf.absolute_paths(p_value jsonb) returns setof jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_value is null or p_value::text !~ '"[$]from"' then
    return;
  end if;
  return query
    with recursive inner_value (value) as (
      select p_value
      union all
      select child.value
      from inner_value outer_value
      cross join lateral (
        select m.value
        from jsonb_each(_qwf.as_object(outer_value.value)) m
        where not outer_value.value ? '$value'
        union all
        select e.value
        from jsonb_array_elements(_qwf.as_list(outer_value.value)) e
      ) child
      where child.value::text ~ '"[$]from"'
    )
    select v.value -> '$from'
    from inner_value v
    where jsonb_typeof(v.value) = 'object' and not v.value ? '$value'
      and jsonb_typeof(v.value -> '$from' -> 0) in ('string', 'array');
end $$;

commit;
