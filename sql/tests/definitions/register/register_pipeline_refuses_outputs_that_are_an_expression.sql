-- 3 tests
-- Steps read the outputs by name.
create function pg_temp.problems(p_outputs jsonb) returns setof text language sql as $$
  select qwf_test.problems('pipeline', jsonb_build_object('name', 'p', 'nodes',
    jsonb '[{"id": "a"}]', 'outputs', p_outputs))
$$;
select results_eq($$ select pg_temp.problems(o.outputs) from (values
    (jsonb '{"$from": "a.x"}'), ('{"$from": "a.x", "$default": 1}'), ('{"$form": "a.x"}')
  ) o (outputs) $$,
  array_fill('outputs: must not be an expression: give each output by name'::text, array[3]),
  'it is refused, once');
select results_eq($$ select pg_temp.problems('{"x": {"$form": "a.x"}}') $$,
  array['outputs.x: "$form" is not an operator, or its operator is missing'],
  'a malformed expression of one output is named');
select is_empty($$ select pg_temp.problems('{"x": {"$from": "a.x"}}') $$, 'each by its name');
