select qwf_test.workflow('pair',
  '[{"id": "a"}, {"id": "b", "depends_on": ["a"], "inputs": {"x": {"$from": "a.x"}}}]');
select qwf.enqueue_run('pair');
select qwf_test.attempt('s/a', output => '{"x": {"$from": "who.is.asking"}}');
select is((select inputs from qwf.claim('cpu', 'w')), '{"x": {"$from": "who.is.asking"}}',
  'a fetched value is data');
