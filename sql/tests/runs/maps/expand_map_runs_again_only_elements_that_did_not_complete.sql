-- 6 tests
select qwf_test.workflow('w', '[{"id": "each", "map": {"$value": [1, 2, 3]}},
  {"id": "sum", "depends_on": ["each"]}]');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/each[0]', 'completed', '{"y": 0}');
select qwf_test.attempt('s/each[1]', 'fatal');
select qwf.retry_run(qwf_test.run());
select is(qwf_test.nodes(), 's/each blocked, s/sum blocked, s/each[0] completed, s/each[1] queued, '
  's/each[2] queued', 'the first is kept');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
select qwf_test.work();
select is((select output from qwf.jobs where node_id = 's/each'), '[{"y": 0}, {}, {}]',
  'and part of the output');
select qwf_test.work();
select is(qwf_test.run_state(), 'completed', 'the run completes');
select qwf.retry_run(qwf_test.run(), 's/each');
select is(qwf_test.nodes(), 's/each blocked, s/sum blocked, s/each[0] queued, s/each[1] queued, '
  's/each[2] queued', 'a map that is named runs again whole');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
