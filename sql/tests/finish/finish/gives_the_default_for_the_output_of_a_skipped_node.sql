select qwf_test.workflow('chain', '[
  {"id": "a", "skip_if": true},
  {"id": "b", "depends_on": ["a"], "inputs": {"x": {"$from": "a.x", "$default": "nothing"}}}]');
select qwf.enqueue_run('chain');
select is((select inputs from qwf.claim('cpu', 'w')), '{"x": "nothing"}', 'it has no output');
