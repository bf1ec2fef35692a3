-- 2 tests
select throws_ok('select qwf.workflow_graph(graph_id => 4711)', 'QW001', 'no such graph',
  'one that is gone');
select throws_ok('select qwf.workflow_graph(graph_id => null)', 'QW001', 'no such graph',
  'or none');
