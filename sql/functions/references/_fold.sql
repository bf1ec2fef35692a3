-- Deploy qwf:functions/references/_fold
-- Purpose: Works out all that the elements of a map have in common: whatever does not read $item or
--   $index becomes its value.
-- Guarantees: Resolving the result needs no scope but $item and $index, and gives what resolving
--   p_value in p_scope with those two would: the same value, or an error of the same kind. So ten
--   thousand elements do not drag the scope along. Never raises.
-- Called by: whoever expands a map.

begin;

create function _qwf.fold(p_value jsonb, p_scope jsonb) returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_found _qwf.resolution;
begin
  if p_value::text !~ '"\$' then
    return p_value;
  elsif p_value::text !~ '"\$(item|index)' then
    v_found := _qwf.resolve_value(p_value, p_scope);
    if v_found.error is null then
      return case when v_found.value::text ~ '"\$'
        then jsonb_build_object('$value', v_found.value) else v_found.value end;
    end if;
  end if;
  return _qwf.fold_inside(p_value, p_scope);
end $$;

commit;
