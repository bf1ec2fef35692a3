-- Deploy qwf:functions/graphs/_with_absolute_references
-- Purpose: Makes all references in a value absolute: each path then starts with a node or the run
--   context.
-- Guarantees: p_names says what the first segment of a path stands for; a name that it lacks is run
--   context. Never raises. A malformed reference stays as it is, because the checks report it.
-- Called by: _absolute_reference, _compile_map, _compile_node, _compile_outputs, _compile_question,
--   _compile_step, _context_needs, _step_delay, _step_inputs.

begin;

create function _qwf.with_absolute_references(p_value jsonb, p_names jsonb) returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_value::text !~ '"[$]' then
    return p_value;
  elsif jsonb_typeof(p_value) = 'array' then
    return (select jsonb_agg(_qwf.with_absolute_references(e.value, p_names) order by e.place)
            from jsonb_array_elements(p_value) with ordinality as e (value, place));
  elsif jsonb_typeof(p_value) <> 'object' or p_value ? '$value' then
    return p_value;
  elsif p_value ? '$from' then
    return _qwf.absolute_reference(p_value, p_names);
  end if;
  return (select jsonb_object_agg(m.key, _qwf.with_absolute_references(m.value, p_names))
          from jsonb_each(p_value) m);
end $$;

commit;
