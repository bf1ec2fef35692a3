-- Deploy qwf:functions/definitions/_skip_problems
-- Purpose: What is wrong with a skip_if.
-- Guarantees: Only true, false and expressions pass: an object without an operator would be true
--   for ever, which is what a misspelt operator comes to.
-- Called by: _node_problems, _step_problems.

begin;

create function _qwf.skip_problems(p_skip_if jsonb, p_path text) returns setof _qwf.problem
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
    select p_path, 'is neither true, false nor an expression',
      'write {"$from": "<node>.<key>", "$eq": <value>}'
    where jsonb_typeof(p_skip_if) <> 'boolean'
      and not exists (select from _qwf.expressions(p_skip_if, p_path) e where e.path = p_path)
    union all
    select p.* from _qwf.expression_problems(p_skip_if, p_path) p;
end $$;

commit;
