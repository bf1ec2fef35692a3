-- 2 tests
select qwf_test.workflow('w', '[{"id": "a"}, {"id": "m", "depends_on": ["a"],
  "run_if": "all_done", "map": {"$value": [1, 2, 3]}, "max_parallel": 1}]');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/a', 'fatal');
select qwf.cancel_job(qwf_test.job('s/m'));
select is(qwf_test.nodes() || ', ' || qwf_test.run_state(), 's/a failed, s/m cancelled, '
  's/m[0] cancelled, s/m[1] cancelled, s/m[2] cancelled, failed', 'and the run ends');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
