-- 6 tests
select qwf_test.workflow('w',
  '[{"id": "a", "on_failure": "ask"}, {"id": "b", "depends_on": ["a"]}]');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/a', 'fatal', error => 'no good');
select is(qwf_test.nodes(), 's/a awaiting_input, s/b blocked', 'it waits for a person');
select is(qwf_test.run_state(), 'awaiting_input', 'so does the run');
select is((select input_spec ->> 'error' from qwf.jobs where node_id = 's/a'), 'no good',
  'the person sees the error');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
select throws_ok($$ select qwf.submit_input(qwf_test.run(), 's/a', '"perhaps"') $$, 'QW005',
  'the answer does not fit the question', 'retry, skip or abort');
select throws_ok($$ select qwf.submit_input(qwf_test.run(), 's/b', '"skip"') $$, 'QW001',
  'no such input', 'a node that never asks');
