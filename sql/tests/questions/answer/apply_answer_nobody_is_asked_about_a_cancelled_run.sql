-- 2 tests
select qwf_test.workflow('w', '[{"id": "a", "on_failure": "ask"}]');
select qwf.enqueue_run('w');
select qwf_test.claim();
select qwf.cancel_run(qwf_test.run());
select qwf_test.report('s/a', 'error');
select is(qwf_test.state('s/a'), 'cancelled', 'it is cancelled');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
