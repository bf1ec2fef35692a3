-- 3 tests
-- Runs and jobs in every state there is.
select qwf_test.workflow('pair',
  '[{"id": "a", "retry": {"max_attempts": 2}}, {"id": "b", "depends_on": ["a"]}]');
select qwf.enqueue_run('pair'), qwf_test.work(), qwf_test.work();
select qwf.enqueue_run('pair'), qwf_test.attempt('s/a', 'fatal');
select qwf.cancel_run(qwf.enqueue_run('pair'));
select qwf.enqueue_run('pair'), qwf_test.attempt('s/a', 'error');
select qwf.enqueue_run('pair'), qwf_test.claim();
select qwf.enqueue_run('pair', run_at => qwf.now() + '1 d');
select qwf.enqueue_run('pair'), qwf_test.question('confirm');
select qwf.enqueue('queued'), qwf.enqueue('running', queue => 'gpu'), qwf_test.claim('gpu');
select ok(count(distinct status) >= 7, 'most states there are') from qwf.jobs;
select ok(count(distinct status) >= 5, 'of jobs and of runs') from qwf.runs;
select is_empty('select * from qwf.check_invariants()', 'no row');
