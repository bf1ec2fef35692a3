-- Deploy qwf:functions/references/_fold_path
-- Purpose: Folds the path of a $from, in an expression that refers to the element of a map.
-- Guarantees: A path that leads to a value becomes one that starts from that value. A path that
--   starts from $item or $index, or leads nowhere, stays.
-- Called by: _fold_inside.

begin;

create function _qwf.fold_path(p_path jsonb, p_scope jsonb) returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text := coalesce(p_path ->> 0, split_part(p_path #>> '{}', '.', 1));
  v_found _qwf.resolution;
begin
  if jsonb_typeof(p_path -> 0) = 'object' then
    v_found.value := _qwf.fold(p_path -> 0, p_scope);
    return jsonb_build_array(case jsonb_typeof(v_found.value)
      when 'object' then v_found.value
      else jsonb_build_object('$value', v_found.value) end) || (p_path - 0);
  elsif v_name not in ('$item', '$index') then
    v_found := _qwf.resolve_path(p_path, p_scope);
    if v_found.error is null then
      return jsonb_build_array(jsonb_build_object('$value', v_found.value));
    end if;
  end if;
  return p_path;
end $$;

commit;
