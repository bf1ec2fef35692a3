-- 5 tests
select qwf_test.workflow('w', '[{"id": "a"}, {"id": "b"}, {"id": "c"},
  {"id": "tidy", "depends_on": ["a", "b", "c"], "run_if": "all_done"}]');
select qwf.enqueue_run('w');
select qwf_test.claim(p_max_jobs => 2);
select qwf_test.report('s/a', 'fatal');
select is(qwf_test.nodes(), 's/a failed, s/b running, s/c cancelled, s/tidy blocked', 'b runs');
select is((select verdict from qwf.heartbeat('w', array[qwf_test.token('s/b')])), 'cancel',
  'and is told to stop');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
select qwf_test.report('s/b', 'cancelled');
select is(qwf_test.nodes(), 's/a failed, s/b cancelled, s/c cancelled, s/tidy queued', 'then');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
