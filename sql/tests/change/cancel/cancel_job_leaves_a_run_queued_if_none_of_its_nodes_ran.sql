-- 4 tests
select qwf_test.workflow('w', '[{"id": "m", "map": {"$value": [1, 2, 3]}, "min_success": 1}]');
select qwf.enqueue_run('w');
select qwf.cancel_job(qwf_test.job('s/m[0]'));
select is(qwf_test.nodes() || ', ' || qwf_test.run_state(), 's/m blocked, '
  's/m[0] cancelled, s/m[1] queued, s/m[2] queued, queued', 'an element is not its run');
select ok((select r.started_at is null from qwf.runs r where r.id = qwf_test.run()),
  'nothing has begun');
select qwf_test.attempt('s/m[1]', 'tempfail');
select qwf.cancel_job(qwf_test.job('s/m[1]'));
select is(qwf_test.run_state(), 'running', 'cancelled after an attempt it has');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
