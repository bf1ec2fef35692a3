-- 7 tests
select qwf_test.workflow('w', '[{"id": "a"}, {"id": "b", "depends_on": ["a"]},
  {"id": "tidy", "depends_on": ["b"], "run_if": "all_done",
    "inputs": {"b": {"$from": "b.path"}}}]');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/a', 'fatal', error => 'no good');
select is(qwf_test.nodes(), 's/a failed, s/b cancelled, s/tidy queued', 'the clean-up begins');
select results_eq('select status::text, ending::text, error from qwf.runs',
  $$ values ('running', 'failed', 's/a failed: no good') $$, 'the outcome is decided');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
select is((select inputs from qwf.claim('cpu', 'w')), '{"b": null}', 'what did not run gives null');
select is((select verdict from qwf.heartbeat('w', array[qwf_test.token('s/tidy')])), 'ok',
  'nobody stops it');
select qwf_test.report('s/tidy');
select is(qwf_test.run_state(), 'failed', 'then the run is over');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
