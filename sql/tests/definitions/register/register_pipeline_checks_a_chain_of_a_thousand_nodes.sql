-- 2 tests
select is_empty($$ select qwf_test.problems('pipeline', jsonb_build_object('name', 'deep', 'nodes',
  (
  select jsonb_agg(jsonb_build_object('id', 'n' || i,
    'depends_on', case when i > 1 then jsonb_build_array('n' || i - 1) else '[]' end,
    'inputs', case when i > 1 then jsonb '{"x": {"$from": "n1.x"}}' else '{}' end))
  from generate_series(1, 1000) i))) $$, 'in which every node reads the first');
select results_eq($$ select qwf_test.problems('pipeline', jsonb_build_object('name', 'deep',
  'nodes', (
  select jsonb_agg(jsonb_build_object('id', 'n' || i,
    'depends_on', case when i > 1 then jsonb_build_array('n' || i - 1) else '[]' end,
    'inputs', case when i = 1 then jsonb '{"x": {"$from": "n1000.x"}}' else '{}' end))
  from generate_series(1, 1000) i))) $$,
  array['nodes[0].inputs.x: node "n1000" is not upstream: add "n1000" to depends_on'],
  'in which the first reads the last');
