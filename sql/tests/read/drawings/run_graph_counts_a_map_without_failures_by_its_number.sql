-- 2 tests
select qwf_test.workflow('w', '[{"id": "m", "map": {"$value": [1, 2]}},
  {"id": "none", "map": {"$value": []}}]');
select qwf.enqueue_run('w');
select qwf_test.work();
select is(qwf.run_graph(qwf_test.run()) #> '{nodes,0,elements}', '{"completed": 2}', 'two');
select is(qwf.run_graph(qwf_test.run()) #> '{nodes,1,elements}', '{"completed": 0}',
  'an empty list');
