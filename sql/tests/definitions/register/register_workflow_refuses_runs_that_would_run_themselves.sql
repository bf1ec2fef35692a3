-- 7 tests
select qwf.register_workflow('{"name": "d0", "steps": [{"id": "a", "node": "leaf"}]}');
select qwf.register_workflow(jsonb_build_object('name', 'd' || g, 'steps', jsonb_build_array(
  jsonb_build_object('id', 'r', 'kind', 'workflow', 'workflow', 'd' || (g - 1)))))
from generate_series(1, 8) g;
create function pg_temp.problems(name text, child text) returns setof text language sql as $$
  select qwf_test.problems('workflow', jsonb_build_object('name', name, 'steps', jsonb_build_array(
    jsonb_build_object('id', 'r', 'kind', 'workflow', 'workflow', child)))) $$;
select results_eq($$ select pg_temp.problems('x', 'x') $$, array['steps: cycle: x -> x'], 'itself');
select results_eq($$ select pg_temp.problems('d0', 'd3') $$,
  array['steps: cycle: d0 -> d3 -> d2 -> d1 -> d0'], 'through others');
select results_eq($$ select pg_temp.problems('d9', 'd8') $$,
  array['steps: runs are nested more than 8 deep'], 'counted down');
select qwf.register_workflow('{"name": "e0", "steps": [{"id": "a", "node": "leaf"}]}');
select results_eq($$ select pg_temp.problems('d0', 'e0') $$,
  array['steps: runs are nested more than 8 deep'], 'and up');
select is_empty($$ select pg_temp.problems('d1', 'e0') $$, 'a shallower tree');

-- a workflow that changes
select qwf.register_workflow('{"name": "e0", "inputs": {"required": ["x"], "properties": {"x": {}}},
  "steps": [{"id": "a", "node": "leaf"}]}');
select throws_ok($$ select qwf.enqueue_run('d1') $$, 'QW003', null,
  'a workflow that no longer fits the workflow that it runs is refused');
select qwf.register_workflow('{"name": "e0", "steps": [{"id": "b", "node": "leaf"}]}');
select is((select count(distinct n.child_graph_id) from qwf.graph_nodes n
  where n.workflow = 'e0'), 2::bigint, 'one that fits is compiled with it');
