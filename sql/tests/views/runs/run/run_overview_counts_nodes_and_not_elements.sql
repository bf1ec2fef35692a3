-- 2 tests
-- Ten thousand elements of a map are one node; the bodies that run are all counted.
select qwf_test.workflow('w', '[
  {"id": "m", "map": [1, 2, 3], "max_parallel": 2, "inputs": {"x": {"$from": "item"}}},
  {"id": "z", "depends_on": ["m"]}]');
select qwf.enqueue_run('w');
select qwf_test.claim('cpu', 5);
select results_eq('select done, total, running from qwf.run_overview',
  'values (0::bigint, 2, 2::bigint)', 'two of three elements run');
select count(qwf.finish(id, token, 'completed')) from qwf.jobs where status = 'running';
select qwf_test.claim('cpu', 5);
select count(qwf.finish(id, token, 'completed')) from qwf.jobs where status = 'running';
select results_eq('select done, total, running from qwf.run_overview',
  'values (1::bigint, 2, 0::bigint)', 'the map is done');
