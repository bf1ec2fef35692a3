-- 3 tests
-- What it refers to has ended, and stays as it is: the same claim would end the same way.
select qwf_test.workflow('pair', '[{"id": "a"}, {"id": "b", "depends_on": ["a"],
  "on_failure": "ask", "inputs": {"x": {"$from": "a.gone"}}}]');
select qwf.enqueue_run('pair');
select qwf_test.attempt('s/a');
select qwf_test.claim();
select qwf.drain_outbox();
select results_eq($$ select spec -> 'options', prompt from qwf.pending_inputs $$,
  $$ values (jsonb '["skip", "abort"]', 'It cannot start. Skip it, or abort?') $$,
  'a person may skip it or abort');
select throws_ok($$ select qwf.submit_input(qwf_test.run(), 's/b', '"retry"') $$, 'QW005',
  'the answer does not fit the question', 'and cannot retry it');
select qwf.submit_input(qwf_test.run(), 's/b', '"skip"');
select is(qwf_test.run_state(), 'completed', 'the run goes on without it');
