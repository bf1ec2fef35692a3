-- Deploy qwf:functions/definitions/_keyword_problems
-- Purpose: Reports keywords of one schema object that have the right type but make no sense.
-- Guarantees: Never raises, whatever the schema holds. Keywords of the wrong type are left to
--   _key_problems.
-- Called by: _definition_schema_problems.

begin;

create function _qwf.keyword_problems(p_schema jsonb) returns setof _qwf.problem
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
    select rule.path, rule.problem, null::text
    from (values
      ('.type',
        p_schema -> 'type' = '[]' or exists (
          select from jsonb_array_elements('[]' || (p_schema -> 'type')) t
          where jsonb_typeof(t) <> 'string'
            or not '["string", "number", "integer", "boolean", "object", "array", "null"]' @> t),
        'must be string, number, integer, boolean, object, array or null, or a list of these'),
      ('.enum', p_schema -> 'enum' = '[]', 'must list at least one value'),
      ('.pattern',
        jsonb_typeof(p_schema -> 'pattern') = 'string'
          and not _qwf.is_pattern(p_schema -> 'pattern'),
        'is not a regular expression'),
      ('.minLength', p_schema -> 'minLength' not between '0' and '1000000000',
        'must be 0 to 1000000000'),
      ('.maxLength', p_schema -> 'maxLength' not between '0' and '1000000000',
        'must be 0 to 1000000000'),
      ('.minLength', p_schema -> 'minLength' > p_schema -> 'maxLength', 'is larger than maxLength'),
      ('.minimum', p_schema -> 'minimum' > p_schema -> 'maximum', 'is larger than maximum')
    ) rule (path, violated, problem)
    where rule.violated
    union all
    select format('.%s[%s]', k.key, r.place - 1),
      case jsonb_typeof(r.name) when 'string' then 'is not among the properties'
        else 'must be a string' end,
      null
    from unnest('{required,properties_order}'::text[]) k (key)
    cross join lateral jsonb_array_elements(_qwf.as_list(p_schema -> k.key))
      with ordinality as r (name, place)
    where jsonb_typeof(r.name) <> 'string'
      or (jsonb_typeof(p_schema -> 'properties') = 'object'
        and not p_schema -> 'properties' ? (r.name #>> '{}'));
end $$;

commit;
