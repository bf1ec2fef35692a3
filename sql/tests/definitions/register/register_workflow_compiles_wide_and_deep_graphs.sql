-- 5 tests
select qwf.register_pipeline('{"name": "one", "nodes": [{"id": "n"}]}');
select is_empty($$ select qwf_test.problems('workflow', jsonb_build_object('name', 'deep', 'steps',
  (
  select jsonb_agg(jsonb_build_object('id', 's' || i, 'kind', 'pipeline', 'pipeline', 'one',
    'depends_on', case when i > 1 then jsonb_build_array('s' || i - 1) else '[]' end,
    'inputs', case when i > 1 then jsonb '{"x": {"$from": "s1.v"}}' else '{}' end))
  from generate_series(1, 300) i))) $$, 'a chain of steps that all read the first one');
select is((select count(*)::int from qwf.graph_edges), 299, 'one dependency per step');
select qwf.register_pipeline(jsonb_build_object('name', 'fan', 'nodes', jsonb_build_array(
  jsonb '{"id": "source"}', jsonb_build_object('id', 'sink', 'depends_on',
    (select jsonb_agg('n' || i) from generate_series(1, 1000) i))) || (
  select jsonb_agg(jsonb_build_object('id', 'n' || i, 'depends_on', jsonb '["source"]'))
  from generate_series(1, 1000) i)));
select is_empty($$ select qwf_test.problems('workflow', '{"name": "wide", "steps": [
  {"id": "s", "kind": "pipeline", "pipeline": "fan"}]}') $$, 'a fan of a thousand nodes');
select results_eq($$ select idx, dep_count from qwf.graph_nodes
  where graph_id = _qwf.graph_for('wide') and node_id in ('s/source', 's/sink') order by idx $$,
  $$ values (0, 0), (1001, 1000) $$, 'its ends have the right positions');
select qwf.register_pipeline(jsonb_build_object('name', 'flat', 'nodes', (
  select jsonb_agg(jsonb_build_object('id', 'n' || i)) from generate_series(1, 500) i)));
select results_eq($$ select qwf_test.problems('workflow', '{"name": "dense", "steps": [
  {"id": "a", "kind": "pipeline", "pipeline": "flat"},
  {"id": "b", "kind": "pipeline", "pipeline": "flat", "depends_on": ["a"]}]}') $$,
  array['steps: 250000 dependencies between nodes of steps'], 'more than 200000 are refused');
