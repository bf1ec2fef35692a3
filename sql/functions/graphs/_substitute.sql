-- Deploy qwf:functions/graphs/_substitute
-- Purpose: Replaces a reference to a value of the definition with that value, or with a reference
--   into it.
-- Guarantees: p_base is already absolute. Literal containers are walked here. What is left for run
--   time is a reference whose path starts with an expression.
-- Called by: _absolute_reference.

begin;

create function _qwf.substitute(p_base jsonb, p_rest text[], p_others jsonb) returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_base jsonb := p_base;
  v_rest text[] := p_rest;
begin
  while cardinality(v_rest) > 0 and v_base #> v_rest[1:1] is not null
    and not exists (
      select from jsonb_object_keys(_qwf.as_object(v_base)) k where starts_with(k, '$'))
  loop
    v_base := v_base #> v_rest[1:1];
    v_rest := v_rest[2:];
  end loop;
  if _qwf.as_object(v_base) ? '$value' and v_base -> '$value' #> v_rest is not null then
    v_base := jsonb_build_object('$value', v_base -> '$value' #> v_rest);
    v_rest := '{}';
  end if;
  if cardinality(v_rest) = 0 and p_others = '{}' then
    return v_base;
  elsif jsonb_typeof(v_base -> '$from') = 'array' and _qwf.as_object(v_base) - '$from' = '{}' then
    return p_others
      || jsonb_build_object('$from', (v_base -> '$from') || to_jsonb(v_rest));
  elsif jsonb_typeof(v_base) <> 'object' then  -- a path cannot start with a string or a list
    v_base := case when v_base::text ~ '"[$]'
      then jsonb_build_object('$check', v_base, 'schema', jsonb '{}', 'input', '')
      else jsonb_build_object('$value', v_base) end;
  end if;
  return p_others || jsonb_build_object('$from', jsonb_build_array(v_base) || to_jsonb(v_rest));
end $$;

commit;
