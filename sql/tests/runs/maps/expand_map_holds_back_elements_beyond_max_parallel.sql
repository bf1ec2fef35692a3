-- 5 tests
select qwf_test.workflow('w', '[{"id": "each", "map": {"$value": [1, 2, 3, 4, 5]},
  "max_parallel": 2}]');
select qwf.enqueue_run('w');
select is(qwf_test.nodes(), 's/each blocked, s/each[0] queued, s/each[1] queued, '
  's/each[2] blocked, s/each[3] blocked, s/each[4] blocked', 'two at first');
select qwf_test.claim(p_max_jobs => 5);
select qwf_test.report('s/each[1]');
select is(qwf_test.nodes(), 's/each blocked, s/each[0] running, s/each[1] completed, '
  's/each[2] queued, s/each[3] blocked, s/each[4] blocked', 'the next, when one ends');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
select qwf_test.report('s/each[0]');
select qwf_test.work() from generate_series(1, 3);
select is(qwf_test.run_state(), 'completed', 'all in the end');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
