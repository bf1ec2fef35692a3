-- 8 tests
-- Completed nodes are kept with their outputs; budgets start again; the history stays.
select qwf_test.workflow('w', '[
  {"id": "a"}, {"id": "b", "depends_on": ["a"]}, {"id": "c", "depends_on": ["b"]},
  {"id": "d", "depends_on": ["a"]}]');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/a', 'completed', '{"n": 1}');
select qwf_test.attempt('s/b', 'error', error => 'boom');
select is(qwf_test.nodes(), 's/a completed, s/b failed, s/d cancelled, s/c cancelled', 'it failed');
select is(qwf.retry_run(qwf_test.run()), 3, 'three nodes run again');
select is(
  qwf_test.nodes(), 's/a completed, s/b queued, s/d queued, s/c blocked',
  'and those that can are queued');
select is_empty('select * from qwf.check_invariants()', 'the counters are right');
select is(
  (select array[failures, attempt, retries] from qwf.jobs where node_id = 's/b'), array[0, 1, 1],
  'budgets start again, the count of claims goes on');
select qwf_test.work();
select qwf_test.work();
select is(qwf_test.run_state(), 'completed', 'the run completes');
select is(
  (select output from qwf.jobs where node_id = 's/a'), '{"n": 1}', 'a kept output is untouched');
select is_empty('select * from qwf.check_invariants()', 'and the history adds up');
