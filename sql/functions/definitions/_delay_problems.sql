-- Deploy qwf:functions/definitions/_delay_problems
-- Purpose: Reports what is wrong with the delay of a node or step.
-- Called by: _node_problems, _step_problems.

begin;

create function _qwf.delay_problems(p_delay jsonb, p_path text) returns setof _qwf.problem
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
    select p_path, 'must be a duration, or an expression that gives a duration or a time',
      'write it like "10 min", as a number of seconds, or as {"$from": "<node>.<key>"}'
    where p_delay is not null and _qwf.as_interval(p_delay) is null
      and not exists (select from _qwf.expressions(p_delay, p_path) e where e.path = p_path)
    union all
    select p.* from _qwf.expression_problems(p_delay, p_path) p;
end $$;

commit;
