-- 2 tests
select qwf_test.workflow('w', '[{"id": "a"}, {"id": "b", "depends_on": ["a"]}]');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/a', 'fatal', error => 'boom');
select qwf.retry_job(qwf_test.job('s/a'));
select is(qwf_test.run_state(), 'queued', 'the run is live again');
select is(qwf_test.nodes(), 's/a queued, s/b blocked', 'the node and its dependants');
