-- 4 tests
select qwf_test.workflow('one', '[{"id": "a"}]');
select qwf.enqueue_run('one');
select qwf_test.claim();
select qwf.cancel_run(qwf_test.run());
select is(qwf_test.state('s/a'), 'running', 'its row is not touched');
select is((select verdict from qwf.heartbeat('w', array[qwf_test.token('s/a')])), 'cancel',
  'its worker is told');
select qwf_test.report('s/a', 'cancelled');
select is(qwf_test.state('s/a'), 'cancelled', 'and stops it');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
