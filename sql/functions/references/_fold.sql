-- Deploy qwf:functions/references/_fold
-- Purpose: Replaces every reference that is the same for all elements of a map by its value.
-- Guarantees: Resolving the result needs only $item and $index, so that 10,000 elements need not
--   carry the scope. It gives what resolving p_value in the whole scope would give: the same value,
--   or an error of the same kind. Never raises.
-- Called by: whatever expands a map.

begin;

create function _qwf.fold(p_value jsonb, p_scope jsonb) returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_found _qwf.resolution;
begin
  if p_value::text !~ '"[$]' then
    return p_value;
  elsif p_value::text !~ '"[$](item|index)' then
    v_found := _qwf.resolve_value(p_value, p_scope);
    if v_found.error is null then
      return case when v_found.value::text ~ '"[$]'
        then jsonb_build_object('$value', v_found.value) else v_found.value end;
    end if;
  end if;
  return _qwf.fold_inside(p_value, p_scope);
end $$;

commit;
