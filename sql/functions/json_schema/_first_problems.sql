-- Deploy qwf:functions/json_schema/_first_problems
-- Purpose: Returns the first 20 problems of a value, and a row that says so if there are more.
-- Guarantees: All texts together have about 10,000 bytes at most: they become the detail of an
--   error, which the log of the server repeats. One problem alone may have 8,000 bytes.
-- Called by: _schema_problems, _answer_problems.

begin;

create function _qwf.first_problems(p_problems _qwf.problem[], p_path text)
returns setof _qwf.problem
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select _qwf.clip(p.path, 4000 / cut.parts), _qwf.clip(p.problem, 8000 / cut.parts), p.hint
  from (select greatest(1, least(cardinality(p_problems), 20)) as parts) cut
  cross join lateral unnest(p_problems[:20]) with ordinality p (path, problem, hint, position)
  union all
  select p_path, 'has more problems: only the first 20 are listed', null
  where cardinality(p_problems) > 20
$$;

commit;
