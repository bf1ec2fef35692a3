select qwf_test.workflow('fork', '[{"id": "a"}, {"id": "b", "retry": {"max_attempts": 9}}]');
select qwf.enqueue_run('fork');
select qwf_test.claim('cpu', 2);
select qwf_test.report('s/a', 'fatal'), qwf_test.report('s/b', 'error', error => 'boom');
select is(qwf_test.state('s/b'), 'cancelled', 'its result no longer matters');
