-- 3 tests
select qwf_test.workflow('one', '[{"id": "a"}]');
select qwf.enqueue_run('one');
select qwf_test.claim();
select qwf.cancel_run(qwf_test.run());
select is(qwf.cancel_job(qwf_test.job('s/a')), 'requested', 'its worker was told already');
select qwf_test.report('s/a', 'cancelled');
select is_empty('select * from qwf.cancel_requests', 'nothing is left of it');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
