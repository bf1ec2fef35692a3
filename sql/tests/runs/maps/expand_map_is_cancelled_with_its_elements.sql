-- 2 tests
select qwf_test.workflow('w', '[{"id": "each", "map": {"$value": [1, 2]}, "max_parallel": 1}]');
select qwf.enqueue_run('w');
select qwf.cancel_run(qwf_test.run());
select is(qwf_test.nodes(), 's/each cancelled, s/each[0] cancelled, s/each[1] cancelled',
  'all of it');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
