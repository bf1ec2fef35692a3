-- Deploy qwf:functions/_evaluate_operator
-- Purpose: Resolves one expression: an object with a key that begins with $.
-- Guarantees: Never raises. A $from is fetched, else takes its $default; then $filter applies, then
--   $eq or $ne.
-- Called by: _evaluate.

begin;

create function qwf._evaluate_operator(p_expression jsonb, p_scope jsonb) returns qwf.resolution
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_malformed text := qwf._malformed(p_expression);
  v_found qwf.resolution;
  v_operand qwf.resolution;
begin
  if v_malformed is not null then
    return row(null, 'malformed: ' || v_malformed)::qwf.resolution;
  elsif p_expression ? '$value' then
    return row(p_expression -> '$value', null)::qwf.resolution;
  elsif p_expression ? '$coalesce' then
    return qwf._coalesce(p_expression, p_scope);
  elsif p_expression ? '$check' then
    return qwf._check(p_expression, p_scope);
  end if;
  v_found := qwf._fetch(p_expression -> '$from', p_scope);
  if starts_with(v_found.error, 'unresolvable') and p_expression ? '$default' then
    v_found := qwf._evaluate(p_expression -> '$default', p_scope);
  end if;
  if v_found.error is null and p_expression ? '$filter' then
    v_operand := qwf._evaluate(p_expression -> '$filter', p_scope);
    if v_operand.error is not null then
      return v_operand;
    end if;
    v_found := qwf._filter(v_found.value, v_operand.value);
  end if;
  if v_found.error is null and p_expression ?| array['$eq', '$ne'] then
    v_operand := qwf._evaluate(coalesce(p_expression -> '$eq', p_expression -> '$ne'), p_scope);
    if v_operand.error is not null then
      return v_operand;
    end if;
    v_found.value := to_jsonb((v_found.value = v_operand.value) = (p_expression ? '$eq'));
  end if;
  return v_found;
end $$;

revoke all on function qwf._evaluate_operator from public;

commit;
