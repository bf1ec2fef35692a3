-- Deploy qwf:functions/definitions/_skip_problems
-- Purpose: Reports what is wrong with a skip_if.
-- Guarantees: Only true, false and expressions pass. An object without an operator, for example
--   with a misspelt one, would always be true.
-- Called by: _node_problems, _repeat_problems, _step_problems.

begin;

create function _qwf.skip_problems(p_skip_if jsonb, p_path text) returns setof _qwf.problem
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
    select p_path, 'must be true, false or an expression',
      'write {"$from": "<node>.<key>", "$eq": <value>}'
    where jsonb_typeof(p_skip_if) <> 'boolean'
      and not exists (select from _qwf.expressions(p_skip_if, p_path) e where e.path = p_path)
    union all
    select p.* from _qwf.expression_problems(p_skip_if, p_path) p;
end $$;

commit;
