-- Deploy qwf:functions/graphs/_compile_map
-- Purpose: Returns the list that a node maps over, with absolute references.
-- Guarantees: If the list needs nothing from run time, it is resolved here, and the error says why
--   it is not a list. The value is null for a node without a map.
-- Called by: _compile_node, _compile_node_parts, _compile_node_step.

begin;

create function _qwf.compile_map(p_map jsonb, p_names jsonb) returns _qwf.resolution
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_map jsonb := _qwf.with_absolute_references(p_map, p_names);
  v_static _qwf.resolution;
begin
  if v_map is null or exists (select from _qwf.absolute_paths(v_map)) then
    return row(v_map, null)::_qwf.resolution;
  end if;
  v_static := _qwf.resolve(v_map, '{}');
  return row(
    case when v_map::text ~ '"[$]' then jsonb_build_object('$value', v_static.value) else v_map end,
    coalesce(v_static.error, case when jsonb_typeof(v_static.value) <> 'array'
      then format('gives a value of type %s, not a list', jsonb_typeof(v_static.value)) end)
  )::_qwf.resolution;
end $$;

commit;
