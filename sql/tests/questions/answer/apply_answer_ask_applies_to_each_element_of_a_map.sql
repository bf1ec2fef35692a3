-- 4 tests
select qwf_test.workflow('w', '[{"id": "each", "map": {"$value": [1, 2]}, "on_failure": "ask"}]');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/each[0]', 'error');
select is(qwf_test.nodes(), 's/each blocked, s/each[0] awaiting_input, s/each[1] queued',
  'one asks');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
select qwf.submit_input(qwf_test.run(), 's/each[0]', '"skip"');
select qwf_test.work();
select is((select output from qwf.jobs where node_id = 's/each'), '[null, {}]', 'it was skipped');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
