-- 4 tests
select qwf_test.workflow('w', '[{"id": "up"}, {"id": "a", "depends_on": ["up"], "on_failure": "ask",
  "inputs": {"x": {"$from": "up.x"}}}]');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/up');
select is(qwf_test.claim(), 'claimed nothing', 'its input cannot be resolved');
select qwf.drain_outbox();
select is(qwf_test.nodes() || ', ' || qwf_test.run_state(),
  's/up completed, s/a awaiting_input, awaiting_input', 'a person decides');
select ok((select input_spec ->> 'error' ~ 'QW004' from qwf.jobs where node_id = 's/a'),
  'the question has the error');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
