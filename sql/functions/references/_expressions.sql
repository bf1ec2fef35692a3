-- Deploy qwf:functions/references/_expressions
-- Purpose: Returns every expression inside a value, with its JSON path.
-- Guarantees: An expression is an object with a key that begins with $. What is under $value is
--   data and is not searched. Column optional is true inside a $coalesce or a $default. Visits each
--   level of nesting once, up to level 51: what holds an expression there is returned in its place.
-- Called by: the checks and the compilation of definitions.

begin;

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

commit;
