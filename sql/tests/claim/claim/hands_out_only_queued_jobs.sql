-- 2 tests
select qwf_test.workflow('pair', '[{"id": "a"}, {"id": "b", "depends_on": ["a"]}]');
select qwf.enqueue_run('pair');
select qwf.enqueue('later', queue => 'cpu', run_at => qwf.now() + '1 h');
select qwf.enqueue('stopped', queue => 'cpu');
select qwf.cancel_job(qwf_test.job('stopped'));
select is(qwf_test.claim('cpu', 10), 'claimed s/a', 'not what is blocked, scheduled or cancelled');
select is(qwf_test.claim('cpu', 10), 'claimed nothing', 'nor what runs already');
