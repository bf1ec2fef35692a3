-- 5 tests
-- Also one that completed: it and what it leads to, nothing else.
select qwf_test.workflow('w', '[
  {"id": "a"}, {"id": "b", "depends_on": ["a"]}, {"id": "c", "depends_on": ["b"]},
  {"id": "d", "depends_on": ["a"]}]');
select qwf.enqueue_run('w');
select qwf_test.work(), qwf_test.work(), qwf_test.work();
select is(qwf_test.run_state(), 'completed', 'it completed');
select is(qwf.retry_run(qwf_test.run(), 's/b'), 2, 'two nodes run again');
select is(
  qwf_test.nodes(), 's/a completed, s/b queued, s/d completed, s/c blocked',
  'b and what depends on it');
select qwf_test.work(), qwf_test.work();
select is(qwf_test.run_state(), 'completed', 'it completes again');
select is_empty('select * from qwf.check_invariants()', 'and the history adds up');
