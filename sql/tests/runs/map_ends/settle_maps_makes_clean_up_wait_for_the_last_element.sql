-- 4 tests
select qwf_test.workflow('w', '[{"id": "m", "map": {"$value": [1, 2, 3]}},
  {"id": "tidy", "depends_on": ["m"], "run_if": "all_done"}]');
select qwf.enqueue_run('w');
select qwf_test.claim(p_max_jobs => 2);
select qwf_test.report('s/m[0]', 'fatal');
select is(qwf_test.nodes(), 's/m failed, s/tidy blocked, s/m[0] failed, s/m[1] running, '
  's/m[2] cancelled', 'a body of the map still runs');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
select qwf_test.report('s/m[1]', 'cancelled');
select is(qwf_test.nodes(), 's/m failed, s/tidy queued, s/m[0] failed, s/m[1] cancelled, '
  's/m[2] cancelled', 'now none does');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
