-- Deploy qwf:functions/references/_resolve_path
-- Purpose: Follows the path of one $from through the scope.
-- Guarantees: Returns what it finds as data, unchanged. Every path that starts from a name that is
--   null in the scope (a node that failed or was cancelled) gives null. Never raises; an error
--   begins with "unresolvable", or is that of the expression that the path starts from.
-- Called by: _resolve_expression, _fold_path.

begin;

create function _qwf.resolve_path(p_path jsonb, p_scope jsonb) returns _qwf.resolution
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_found _qwf.resolution;
  v_segments text[];
  v_rest text[];
begin
  if jsonb_typeof(p_path) = 'string' then
    v_segments := string_to_array(p_path #>> '{}', '.');
  else
    v_segments := array(select * from jsonb_array_elements_text(p_path));
  end if;
  v_rest := v_segments[2:];
  case jsonb_typeof(p_path -> 0)
    when 'object' then  -- an expression: the rest of the path leads into its value
      v_found := _qwf.resolve_value(p_path -> 0, p_scope);
      if v_found.error is not null then
        return v_found;
      end if;
      v_found.value := v_found.value #> v_rest;
      v_segments[1] := '(...)';
    when 'array' then  -- several nodes: the first whose output has the rest of the path
      select case when p_scope -> name.value = 'null' then 'null'
        else p_scope #> (name.value || v_rest) end
      into v_found.value
      from jsonb_array_elements_text(p_path -> 0) with ordinality as name (value, position)
      where p_scope #> (name.value || v_rest) is not null or p_scope -> name.value = 'null'
      order by p_scope -> name.value = 'null', name.position
      limit 1;
    else
      v_found.value := case when p_scope -> v_segments[1] = 'null' then 'null'
        else p_scope #> v_segments end;
  end case;
  if v_found.value is null then
    v_found.error := format('unresolvable reference %s', array_to_string(v_segments, '.'));
  end if;
  return v_found;
end $$;

commit;
