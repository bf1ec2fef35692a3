-- Deploy qwf:functions/json_schema/_with_defaults
-- Purpose: Fills the defaults of a schema into a value, at any depth.
-- Guarantees: Adds missing members only; changes nothing that is there, not even a null. Never
--   raises.
-- Called by: _resolve_check, _step_inputs, enqueue_run.

begin;

create function _qwf.with_defaults(p_value jsonb, p_schema jsonb) returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_schema::text !~ '"default"' then
    return p_value;
  elsif jsonb_typeof(p_value) = 'object' and jsonb_typeof(p_schema -> 'properties') = 'object' then
    return p_value || coalesce(
      (select jsonb_object_agg(property.key,
          _qwf.with_defaults(
            coalesce(p_value -> property.key, property.value -> 'default'), property.value))
       from jsonb_each(p_schema -> 'properties') property
       where p_value ? property.key or property.value ? 'default'),
      '{}');
  elsif jsonb_typeof(p_value) = 'array' and p_schema ? 'items' then
    return coalesce(
      (select jsonb_agg(_qwf.with_defaults(e.value, p_schema -> 'items') order by e.place)
       from jsonb_array_elements(p_value) with ordinality as e (value, place)),
      '[]');
  end if;
  return p_value;
end $$;

commit;
