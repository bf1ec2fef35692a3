-- Deploy qwf:functions/references/_malformed
-- Purpose: Returns what is wrong with the shape of one expression.
-- Guarantees: Null for a well-formed expression. Checks this object alone, not the values inside
--   it; never raises.
-- Called by: _due_problems, _expression_problems, _fold_inside, _resolve_expression.

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
  v_unexpected text;
begin
  if v_operator is null then
    select k into v_unexpected  -- first what may be the mistyped operator
    from jsonb_object_keys(p_expression) k
    order by k in ('$default', '$filter', '$eq', '$ne'), k collate "C"
    limit 1;
    return format('"%s" is not an operator, or its operator is missing', v_unexpected);
  end if;
  v_allowed := case v_operator
    when '$check' then array['schema', 'input']
    when '$value' then array[]::text[]
    when '$coalesce' then array['$default']
    else array['$default', '$filter', '$eq', '$ne']
  end;
  select k into v_unexpected
  from jsonb_object_keys(p_expression - v_operator - v_allowed) k
  limit 1;
  if v_unexpected is not null then
    return format('"%s" is not allowed beside "%s"', v_unexpected, v_operator);
  elsif v_operator = '$coalesce' and jsonb_typeof(p_expression -> '$coalesce') <> 'array' then
    return '"$coalesce" is not a list';
  elsif v_operator = '$from' and _qwf.malformed_path(p_expression -> '$from') is not null then
    return _qwf.malformed_path(p_expression -> '$from');
  elsif p_expression ?& array['$eq', '$ne'] then
    return '"$eq" and "$ne" exclude each other';
  elsif jsonb_typeof(p_expression -> '$filter') <> 'object' then
    return '"$filter" is not an object';
  elsif p_expression ? '$filter' then
    return (
      select format('"$filter" key "%s" is neither "eq:<field>" nor "matches:<field>"', min(k))
      from jsonb_object_keys(p_expression -> '$filter') k
      where _qwf.filter_operator(k) is null
      having count(*) > 0);
  end if;
  return null;
end $$;

commit;
