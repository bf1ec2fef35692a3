-- 8 tests
select qwf_test.workflow('w', '[{"id": "a"}, {"id": "b", "depends_on": ["a"]},
  {"id": "tidy", "depends_on": ["b"], "run_if": "all_done"}]');
select qwf.enqueue_run('w');
select qwf_test.work();
select ok(qwf.cancel_run(qwf_test.run(), 'enough'), 'cancelled');
select is(qwf_test.nodes(), 's/a completed, s/b cancelled, s/tidy queued', 'the clean-up runs');
select is(qwf_test.run_state(), 'running', 'so the run does');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
select ok(not qwf.cancel_run(qwf_test.run()), 'twice is no error');
select is(qwf_test.state('s/tidy'), 'queued', 'and changes nothing');
select qwf.cancel_job(qwf_test.job('s/tidy'));
select is(qwf_test.run_state(), 'cancelled', 'the clean-up itself');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
