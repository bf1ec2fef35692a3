-- Deploy qwf:functions/definitions/_definition_schema_problems
-- Purpose: Reports what is wrong with a schema in a definition.
-- Guarantees: A schema that passes can be applied without raising. Keywords that would not be
--   applied are refused, not ignored; title, description and examples are documentation.
-- Called by: _interface_problems, _question_problems, itself for inner schemas.

begin;

create function _qwf.definition_schema_problems(p_schema jsonb, p_path text)
returns setof _qwf.problem
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_problems _qwf.problem[];
begin
  if jsonb_typeof(p_schema) is distinct from 'object' then
    return next row(p_path, 'is not a schema: must be an object', null)::_qwf.problem;
    return;
  end if;
  v_problems := array(
    select p
    from _qwf.key_problems(p_schema, _qwf.definition_keys() -> 'schema', '{}', p_path) p
    union all
    select (p_path || p.path, p.problem, p.hint)::_qwf.problem
    from _qwf.keyword_problems(p_schema) p
    union all
    select p
    from jsonb_each(_qwf.as_object(p_schema -> 'properties')) m
    cross join lateral _qwf.definition_schema_problems(
      m.value, format('%s.properties.%s', p_path, m.key)) p
    union all
    select p
    from _qwf.definition_schema_problems(p_schema -> 'items', p_path || '.items') p
    where jsonb_typeof(p_schema -> 'items') = 'object');
  if v_problems = '{}' and p_schema ? 'default' then
    return query
      select * from _qwf.schema_problems(p_schema -> 'default', p_schema, p_path || '.default');
  end if;
  return query select * from unnest(v_problems);
end $$;

commit;
