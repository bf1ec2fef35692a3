-- 3 tests
select throws_ok($$ select qwf.workflow_graph(to_jsonb(repeat('x', 2000000))) $$, 'QW005', null,
  'a workflow');
select throws_ok($$ select qwf.workflow_graph('{}', to_jsonb(repeat('x', 2000000))) $$, 'QW005',
  null, 'pipelines');
select throws_ok($$ select qwf.workflow_graph((repeat('[', 600) || repeat(']', 600))::jsonb) $$,
  'QW005', null, 'or what is nested too deeply');
