-- 2 tests
-- Everything ends in a state that says why.
select qwf_test.workflow('one', '[{"id": "a"}]');
select qwf.enqueue_run('one');
select qwf_test.attempt('s/a', 'fatal', detail => '{"reason": "crashed", "exit_code": 7}');
select matches((select error from qwf.runs), '^s/a failed',
  'the run names the node and that it failed');
select isnt((select last_error from qwf.jobs), null, 'the job keeps its own text');
