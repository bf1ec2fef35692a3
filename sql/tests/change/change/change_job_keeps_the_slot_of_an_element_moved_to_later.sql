-- 3 tests
select qwf_test.workflow('w', '[{"id": "m", "map": [1, 2, 3], "max_parallel": 1,
  "min_success": 1}]');
select qwf.enqueue_run('w');
select qwf.change_job(qwf_test.job('s/m[0]'), run_at => qwf.now() + interval '1 h');
select is(qwf_test.state('s/m[1]'), 'blocked', 'its place is not given away');
select qwf.cancel_job(qwf_test.job('s/m[0]'));
select is(qwf_test.state('s/m[1]'), 'queued', 'it gives it back when it ends');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
