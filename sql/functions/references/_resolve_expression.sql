-- Deploy qwf:functions/references/_resolve_expression
-- Purpose: Resolves one expression: an object with a key that begins with $.
-- Guarantees: Never raises. A $coalesce gives its first candidate that resolves and is not null,
--   else its $default; a malformed or invalid candidate is an error. A $from that cannot be
--   resolved gives its $default; then $filter applies, then $eq or $ne.
-- Called by: _resolve_value.

begin;

create function _qwf.resolve_expression(p_expression jsonb, p_scope jsonb) returns _qwf.resolution
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_malformed text := _qwf.malformed(p_expression);
  v_found _qwf.resolution;
  v_operand _qwf.resolution;
  v_candidate jsonb;
begin
  if v_malformed is not null then
    return row(null, 'malformed: ' || v_malformed)::_qwf.resolution;
  elsif p_expression ? '$value' then
    return row(p_expression -> '$value', null)::_qwf.resolution;
  elsif p_expression ? '$coalesce' then
    for v_candidate in select c from jsonb_array_elements(p_expression -> '$coalesce') c loop
      v_found := _qwf.resolve_value(v_candidate, p_scope);
      if v_found.value <> 'null' or not starts_with(v_found.error, 'unresolvable') then
        return v_found;
      end if;
    end loop;
    if p_expression ? '$default' then
      return _qwf.resolve_value(p_expression -> '$default', p_scope);
    end if;
    return row(null, 'unresolvable: no candidate of "$coalesce" has a value')::_qwf.resolution;
  elsif p_expression ? '$check' then
    return _qwf.resolve_check(p_expression, p_scope);
  end if;
  v_found := _qwf.resolve_path(p_expression -> '$from', p_scope);
  if starts_with(v_found.error, 'unresolvable') and p_expression ? '$default' then
    v_found := _qwf.resolve_value(p_expression -> '$default', p_scope);
  end if;
  if v_found.error is null and p_expression ? '$filter' then
    v_operand := _qwf.resolve_value(p_expression -> '$filter', p_scope);
    if v_operand.error is not null then
      return v_operand;
    end if;
    v_found := _qwf.apply_filter(v_found.value, v_operand.value, p_expression -> '$filter');
  end if;
  if v_found.error is null and p_expression ?| array['$eq', '$ne'] then
    v_operand := _qwf.resolve_value(
      coalesce(p_expression -> '$eq', p_expression -> '$ne'), p_scope);
    if v_operand.error is not null then
      return v_operand;
    end if;
    v_found.value := to_jsonb((v_found.value = v_operand.value) = (p_expression ? '$eq'));
  end if;
  return v_found;
end $$;

commit;
