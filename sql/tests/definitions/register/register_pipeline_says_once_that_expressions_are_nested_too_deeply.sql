-- 3 tests
create function pg_temp.nested(p_open text, p_close text, p_times int) returns setof text
language sql
as $$
  select p.problem
  from _qwf.pipeline_problems(format('{"name": "p", "nodes": [{"id": "a", "inputs": {"x": %s%s}}]}',
    repeat(p_open, p_times) || '{"$from": "q"}', repeat(p_close, p_times))::jsonb) p
$$;
select results_eq($$ select pg_temp.nested('{"$coalesce": [', ']}', 2000) $$,
  array['is nested more than 50 levels deep'], 'expressions in expressions');
select results_eq($$ select pg_temp.nested('[', ']', 60) $$,
  array['is nested more than 50 levels deep'], 'an expression in lists');
select is_empty($$ select pg_temp.nested('[', ']', 49) $$, '50 levels are allowed');
