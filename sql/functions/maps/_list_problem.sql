-- Deploy qwf:functions/maps/_list_problem
-- Purpose: Returns why a map cannot run over the given list, or null.
-- Guarantees: Bounds what is written for one map: the number of elements, and the copies of the
--   inputs they share.
-- Called by: _expand_map.

begin;

create function _qwf.list_problem(p_list jsonb, p_inputs jsonb) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings qwf.settings;
  v_count int;
  v_size bigint := octet_length(p_inputs::text);
begin
  if jsonb_typeof(p_list) <> 'array' then
    return format('QW004: map is %s, not a list', jsonb_typeof(p_list));
  end if;
  select s.* into v_settings from qwf.settings s;
  v_count := jsonb_array_length(p_list);
  return case
    when v_count > v_settings.max_elements then
      format('QW004: map is a list of %s, at most %s fit (max_elements of qwf.settings)',
        v_count, v_settings.max_elements)
    when v_count * v_size > 64 * v_settings.max_value_bytes::bigint then
      format('QW005: %s elements share inputs of %s bytes each, which is too much together: '
        'pass a file or an id, and what differs through item', v_count, v_size)
  end;
end $$;

commit;
