-- 5 tests
select qwf_test.workflow('w', '[{"id": "each", "map": {"$value": [1, 2, 3]}, "max_parallel": 2}]');
select qwf.enqueue_run('w');
select qwf_test.claim(p_max_jobs => 2);
select qwf_test.report('s/each[1]', 'fatal', error => 'no good');
select is(qwf_test.nodes(), 's/each failed, s/each[0] running, s/each[1] failed, '
  's/each[2] cancelled', 'what has not begun is cancelled');
select is((select last_error from qwf.jobs where node_id = 's/each'),
  '1 of 3 elements failed, 3 must succeed; s/each[1]: no good', 'it says which, and why');
select is(qwf_test.run_state(), 'failed', 'the run fails');
select is((select verdict from qwf.heartbeat('w', array[qwf_test.token('s/each[0]')])), 'cancel',
  'what runs is told to stop');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
