-- Deploy qwf:functions/references/_malformed
-- Purpose: What is wrong with the shape of one expression.
-- Guarantees: Null for a well-formed expression. Looks at this object alone, not at the values
--   inside it; never raises.
-- Called by: _resolve_expression, _expression_problems, _fold_inside.

begin;

create function _qwf.malformed(p_expression jsonb) returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_operator text := case
    when p_expression ? '$from' then '$from'
    when p_expression ? '$value' then '$value'
    when p_expression ? '$coalesce' then '$coalesce'
    when p_expression ? '$check' then '$check'
  end;
  v_allowed text[];
  v_strange text;
begin
  if v_operator is null then
    select min(k) into v_strange from jsonb_object_keys(p_expression) k where starts_with(k, '$');
    return format('"%s" is not an operator, or lacks the one it belongs to', v_strange);
  end if;
  v_allowed := case v_operator
    when '$check' then array['schema', 'input']
    when '$value' then array[]::text[]
    when '$coalesce' then array['$default']
    else array['$default', '$filter', '$eq', '$ne']
  end;
  select k into v_strange from jsonb_object_keys(p_expression - v_operator - v_allowed) k limit 1;
  if v_strange is not null then
    return format('"%s" cannot stand beside "%s"', v_strange, v_operator);
  elsif v_operator = '$coalesce' and jsonb_typeof(p_expression -> '$coalesce') <> 'array' then
    return '"$coalesce" is not a list';
  elsif v_operator = '$from' then
    return coalesce(
      _qwf.malformed_path(p_expression -> '$from'),
      case when p_expression ?& array['$eq', '$ne'] then '"$eq" and "$ne" exclude each other' end,
      _qwf.malformed_filter(p_expression -> '$filter'));
  end if;
  return null;
end $$;

commit;
