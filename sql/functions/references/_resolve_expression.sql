-- Deploy qwf:functions/references/_resolve_expression
-- Purpose: Resolves one expression: an object with a key that begins with $.
-- Guarantees: Never raises. A $from is fetched, else takes its $default; then $filter applies, then
--   $eq or $ne.
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
begin
  if v_malformed is not null then
    return row(null, 'malformed: ' || v_malformed)::_qwf.resolution;
  elsif p_expression ? '$value' then
    return row(p_expression -> '$value', null)::_qwf.resolution;
  elsif p_expression ? '$coalesce' then
    return _qwf.coalesce(p_expression, p_scope);
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
    v_found := _qwf.apply_filter(v_found.value, v_operand.value);
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
