-- Deploy qwf:functions/json_schema/_scalar_problems
-- Purpose: Reports how a string or a number violates the bounds and the pattern of a schema.
-- Guarantees: minLength, maxLength and pattern apply only to strings, minimum and maximum only to
--   numbers. Without a pinned search_path, so that it is inlined.
-- Called by: _violations.

begin;

create function _qwf.scalar_problems(p_value jsonb, p_schema jsonb) returns setof text
language sql immutable
as $$
  select rule.problem
  from (values
    ('string', 'minLength',
      length(p_value #>> '{}') < (p_schema ->> 'minLength')::int,
      format('must have at least %s characters', p_schema ->> 'minLength')),
    ('string', 'maxLength',
      length(p_value #>> '{}') > (p_schema ->> 'maxLength')::int,
      format('must have at most %s characters', p_schema ->> 'maxLength')),
    ('string', 'pattern',
      p_value #>> '{}' !~ (p_schema ->> 'pattern'),
      format('must match %s', p_schema ->> 'pattern')),
    ('number', 'minimum',
      p_value < p_schema -> 'minimum',
      format('must be at least %s', p_schema ->> 'minimum')),
    ('number', 'maximum',
      p_value > p_schema -> 'maximum',
      format('must be at most %s', p_schema ->> 'maximum'))
  ) rule (type, keyword, violated, problem)
  where rule.type = jsonb_typeof(p_value)
    and rule.violated
$$;

commit;
