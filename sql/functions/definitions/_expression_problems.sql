-- Deploy qwf:functions/definitions/_expression_problems
-- Purpose: Reports malformed expressions in a value of a definition.
-- Guarantees: Checks only the form; whether the names exist is for the checks of references. For
--   _implicit and _siblings, which an older format of pipelines had, the hint gives the
--   replacement.
-- Called by: _checked.

begin;

create function _qwf.expression_problems(p_value jsonb, p_path text) returns setof _qwf.problem
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_operators constant text[] := '{$from,$value,$coalesce,$default,$filter,$eq,$ne}';
begin
  return query
    select e.path, verdict.problem, verdict.hint
    from _qwf.expressions(p_value, p_path) e
    cross join lateral (
      select
        case
          when e.expression ->> '$from' ~ '^pipeline[.]_(implicit|siblings)([^[:alnum:]_]|$)'
            then e.expression ->> '$from'
        end as old,
        case
          when e.depth > 50 then 'is nested more than 50 levels deep'
          when e.expression ? '$check' then '"$check" is not an operator'
          else coalesce(
            _qwf.malformed(e.expression),
            case when e.expression ? '$from' and _qwf.segments(e.expression -> '$from') is null
              then '"$from" holds something that is neither a name nor an integer' end,
            (select format('"$filter" key "%s" needs a regular expression', c.key)
             from jsonb_each(e.expression -> '$filter') c
             where (_qwf.filter_operator(c.key))[1] = 'matches'
               and jsonb_typeof(c.value) <> 'object' and not _qwf.is_pattern(c.value)
             limit 1))
        end as malformed) shape
    cross join lateral (
      select case when shape.old like '%_implicit%' then '"_implicit" is not a reference'
            else '"_siblings" is not a reference' end as problem,
        case when shape.old like '%_implicit%' then
          'write inputs as an object, {"name": value, ...}; a list of them takes references only'
          else 'depend on those nodes and read {"$from": "<node>.files"} of each' end as hint
      where shape.old is not null
      union all
      select shape.malformed, coalesce(
        (select _qwf.did_you_mean(k, v_operators)
         from jsonb_object_keys(_qwf.as_object(e.expression)) k
         where k <> all (v_operators)
         limit 1),
        'see docs/references.md; put data with a key that starts with $ into {"$value": ...}')
      where shape.old is null and shape.malformed is not null) verdict;
end $$;

commit;
