-- 4 tests
select qwf_test.workflow('w', '[{"id": "a", "on_failure": "ask"}]');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/a', 'error');
select qwf.submit_input(qwf_test.run(), 's/a', '"retry"');
select results_eq('select status::text, failures, retries, attempt from qwf.jobs',
  $$ values ('queued', 0, 1, 1) $$, 'queued with fresh budgets');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
select qwf_test.attempt('s/a', 'error');
select is(qwf_test.state('s/a'), 'awaiting_input', 'it asks again');
select qwf.submit_input(qwf_test.run(), 's/a', '"retry"');
select qwf_test.work();
select is(qwf_test.run_state(), 'completed', 'a retry may succeed');
