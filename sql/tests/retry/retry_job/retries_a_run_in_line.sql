-- 3 tests
select qwf.create_limit('narrow', 1);
select qwf_test.workflow('w', '[{"id": "a"}]');
select qwf.enqueue_run('w', limit_by => 'narrow');
select qwf_test.claim('cpu', 1);
select qwf_test.report('s/a', 'fatal', error => 'boom');
select is(status::text, 'failed', 'the run has failed') from qwf.runs;
select qwf.retry_job(j.id) from qwf.jobs j where j.queue = 'qwf.runs';
select is(status::text, 'queued', 'a retry of its job is a retry of the run') from qwf.runs;
select is_empty('select * from qwf.check_invariants()', 'invariants');
