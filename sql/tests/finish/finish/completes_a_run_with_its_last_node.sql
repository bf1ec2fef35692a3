-- 2 tests
select qwf_test.workflow('fork', '[{"id": "a"}, {"id": "b"}]');
select qwf.enqueue_run('fork');
select qwf_test.attempt('s/a');
select is(qwf_test.run_state(), 'running', 'one is open');
select qwf_test.attempt('s/b');
select is(qwf_test.run_state(), 'completed', 'none is');
