-- 5 tests
select qwf_test.workflow('fork', '[{"id": "a"}, {"id": "b"}]');
select qwf.enqueue_run('fork');
select qwf_test.claim();
select is(qwf.cancel_job(qwf_test.job('s/a')), 'requested', 'its worker has to stop it first');
select is(qwf_test.run_state(), 'running', 'until then the run goes on');
select qwf_test.report('s/a', 'cancelled');
select is(qwf_test.nodes(), 's/a cancelled, s/b cancelled', 'then it ends');
select is(qwf_test.run_state(), 'cancelled', 'as cancelled');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
