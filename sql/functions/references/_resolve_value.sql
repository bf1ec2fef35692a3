-- Deploy qwf:functions/references/_resolve_value
-- Purpose: Resolves a value of any shape, depth first.
-- Guarantees: Never raises. The first error wins: members in the key order of jsonb, elements from
--   the left. A value fetched by a reference is data and is not resolved again.
-- Called by: _resolve_check, _resolve_expression, _resolve_path, _fold, _resolve.

begin;

create function _qwf.resolve_value(p_value jsonb, p_scope jsonb) returns _qwf.resolution
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_result _qwf.resolution;
begin
  if p_value::text !~ '"[$]' then  -- no key begins with $: nothing to resolve
    return row(p_value, null)::_qwf.resolution;
  elsif jsonb_typeof(p_value) = 'array' then
    select jsonb_agg((resolved.it).value order by resolved.position),
      (array_agg((resolved.it).error order by resolved.position)
        filter (where (resolved.it).error is not null))[1]
    into v_result
    from (
      select _qwf.resolve_value(element.value, p_scope) as it, element.position
      from jsonb_array_elements(p_value) with ordinality as element (value, position)
      offset 0) resolved;  -- offset: evaluate each once
  elsif jsonb_typeof(p_value) = 'object' then
    if exists (select from jsonb_object_keys(p_value) k where starts_with(k, '$')) then
      return _qwf.resolve_expression(p_value, p_scope);
    end if;
    select jsonb_object_agg(resolved.key, (resolved.it).value),
      (array_agg((resolved.it).error order by resolved.position)
        filter (where (resolved.it).error is not null))[1]
    into v_result
    from (
      select member.key, _qwf.resolve_value(member.value, p_scope) as it, member.position
      from jsonb_each(p_value) with ordinality as member (key, value, position)
      offset 0) resolved;
  else
    return row(p_value, null)::_qwf.resolution;
  end if;
  if v_result.error is not null then
    v_result.value := null;
  end if;
  return v_result;
end $$;

commit;
