-- Deploy qwf:functions/graphs/_absolute_reference
-- Purpose: Makes the path of one reference absolute.
-- Guarantees: The name of a step stands for its exports or, if it has none, for the outputs of its
--   leaves. pipeline.x is replaced by what the step gives for x. If the step does not give a
--   declared input, the result is the reference's $default, or else null. run stands for the run
--   itself, unless a step or node of an older definition has that id.
-- Called by: _with_absolute_references.

begin;

create function _qwf.absolute_reference(p_expression jsonb, p_names jsonb) returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_path text[] := _qwf.segments(p_expression -> '$from');
  v_name jsonb := p_names -> v_path[1];
  v_rest text[] := v_path[2:];
  v_others jsonb := coalesce(_qwf.with_absolute_references(p_expression - '$from', p_names), '{}');
begin
  if v_path is null or v_name ->> 'kind' = 'unknown' then
    return p_expression;
  elsif v_name ->> 'kind' = 'pipeline' then
    if cardinality(v_rest) = 0 then
      return _qwf.substitute(v_name -> 'inputs', '{}', v_others);
    elsif v_name -> 'inputs' ? v_rest[1] then
      return _qwf.substitute(v_name -> 'inputs' -> v_rest[1], v_rest[2:], v_others);
    end if;
    return _qwf.substitute(coalesce(v_others -> '$default', 'null'), '{}', v_others - '$default');
  elsif v_name ? 'exports' and v_rest[1] is distinct from 'files' then
    if cardinality(v_rest) = 0 then
      return _qwf.substitute(v_name -> 'exports', '{}', v_others);
    end if;
    return _qwf.substitute(
      coalesce(v_name -> 'exports' -> v_rest[1], 'null'), v_rest[2:], v_others);
  end if;
  return v_others || jsonb_build_object('$from', case
    when v_name is null and v_path[1] = 'run' then to_jsonb(array['$run'] || v_rest)
    when v_name is null then to_jsonb(array['$context'] || v_path)
    when v_name ->> 'kind' = 'element' then to_jsonb(array['$' || v_path[1]] || v_rest)
    when v_rest[1] = 'files' then to_jsonb(array['$files', v_name ->> 'id'] || v_rest[2:])
    when jsonb_array_length(v_name -> 'leaves') = 1 then (v_name -> 'leaves') || to_jsonb(v_rest)
    else jsonb_build_array(v_name -> 'leaves') || to_jsonb(v_rest)
  end);
end $$;

commit;
