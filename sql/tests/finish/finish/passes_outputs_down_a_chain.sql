-- 2 tests
select qwf_test.workflow('chain', '[
  {"id": "a", "inputs": {"n": {"$from": "start"}}}, {"id": "b", "depends_on": ["a"],
    "inputs": {"n": {"$from": "a.n"}}},
  {"id": "c", "depends_on": ["b"], "inputs": {"n": {"$from": "b.n"}, "first": {"$from": "a"}}}]');
select qwf.enqueue_run('chain', '{"start": 41}');
select qwf_test.work(), qwf_test.work(), qwf_test.work();
select is((select output from qwf.jobs where id = qwf_test.job('s/c')),
  '{"n": 41, "first": {"n": 41}}',
  'each node reads the one before');
select is(qwf_test.run_state(), 'completed', 'to the end');
