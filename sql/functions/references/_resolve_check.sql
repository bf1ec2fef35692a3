-- Deploy qwf:functions/references/_resolve_check
-- Purpose: Resolves a $check: the wrapper that compiling puts around a step input that has a schema
--   and is known only at run time.
-- Guarantees: Fills in the defaults of the schema; a value that violates the schema gives an error
--   value. Never raises.
-- Called by: _resolve_expression.

begin;

create function _qwf.resolve_check(p_expression jsonb, p_scope jsonb) returns _qwf.resolution
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_found _qwf.resolution := _qwf.resolve_value(p_expression -> '$check', p_scope);
  v_problems text;
begin
  if v_found.error is not null then
    return v_found;
  end if;
  v_found.value := _qwf.with_defaults(v_found.value, p_expression -> 'schema');
  select string_agg(format('input %s %s', p.path, p.problem), '; ')
  into v_problems
  from _qwf.schema_problems(v_found.value, p_expression -> 'schema', p_expression ->> 'input') p;
  if v_problems is not null then
    return row(null, 'invalid: ' || v_problems)::_qwf.resolution;
  end if;
  return v_found;
end $$;

commit;
