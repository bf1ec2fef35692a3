-- 2 tests
select qwf_test.workflow('one', '[{"id": "a"}]');
select qwf.enqueue_run('one');
select qwf_test.claim();
select qwf.cancel_run(qwf_test.run());
select qwf_test.lapse('s/a');
select is(qwf_test.state('s/a'), 'cancelled', 'its result no longer matters');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
