-- 5 tests
select qwf_test.workflow('pair', '[
  {"id": "a", "retry": {"max_attempts": 2, "backoff": [40]}}, {"id": "b", "depends_on": ["a"]}]');
select qwf.enqueue_run('pair');
select qwf_test.set_now(qwf.now());
select qwf_test.attempt('s/a', 'error');
select is(qwf_test.nodes(), 's/a scheduled, s/b blocked', 'it waits');
select ok(run_at - qwf.now() between '36 s' and '44 s', 'as long as it said') from qwf.jobs
where run_at is not null;
select is(qwf_test.run_state(), 'running', 'the run goes on');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
select qwf_test.attempt('s/a');
select is(qwf_test.nodes(), 's/a completed, s/b queued', 'and then goes on');
