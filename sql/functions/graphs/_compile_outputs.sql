-- Deploy qwf:functions/graphs/_compile_outputs
-- Purpose: Makes the references in the outputs of a workflow absolute, and reports those that lead
--   nowhere.
-- Guarantees: Outputs may read every step and every node. Null for a workflow without outputs.
-- Called by: _compile.

begin;

create function _qwf.compile_outputs(p_outputs jsonb, p_places jsonb, p_parts jsonb[])
returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_names jsonb := jsonb '{}';
  v_id text;
  v_name jsonb;
begin
  if p_outputs is null then
    return jsonb '{"problems": []}';
  end if;
  for v_id, v_name in
    select p.key, coalesce(p_parts[p.value::int] -> 'name', jsonb '{"kind": "unknown"}')
    from jsonb_each_text(p_places) p
  loop
    v_names := v_names || jsonb_build_object(v_id, v_name - 'nodes') || coalesce((
      select jsonb_object_agg(n.key, n.value)
      from jsonb_each(_qwf.as_object(v_name -> 'nodes')) n where n.key like '%/%'), '{}');
  end loop;
  return jsonb_build_object(
    'outputs', _qwf.with_absolute_references(p_outputs, v_names),
    'problems', (
      select coalesce(jsonb_agg(p), '[]')
      from _qwf.reference_problems(p_outputs, 'outputs', v_names) p));
end $$;

commit;
