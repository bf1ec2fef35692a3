-- Deploy qwf:functions/_check
-- Purpose: Resolves a $check, which compiling puts around a step input that has a schema and is
--   known only at run time.
-- Guarantees: Fills in the schema's defaults; a value that violates the schema is an error value.
--   Never raises.
-- Called by: _evaluate_operator.

begin;

create function qwf._check(p_expression jsonb, p_scope jsonb) returns qwf.resolution
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_found qwf.resolution := qwf._evaluate(p_expression -> '$check', p_scope);
  v_problems text;
begin
  if v_found.error is not null then
    return v_found;
  end if;
  v_found.value := qwf._with_defaults(v_found.value, p_expression -> 'schema');
  select string_agg(format('input %s %s', p.path, p.problem), '; ')
  into v_problems
  from qwf._schema_problems(v_found.value, p_expression -> 'schema', p_expression ->> 'input') p;
  if v_problems is not null then
    return row(null, 'invalid: ' || v_problems)::qwf.resolution;
  end if;
  return v_found;
end $$;

revoke all on function qwf._check from public;

commit;
