-- 4 tests
-- Guarded nodes downstream are looked at afresh: conditions are evaluated, questions are asked
-- again.
select qwf_test.workflow('w', '[
  {"id": "a"},
  {"id": "b", "depends_on": ["a"], "skip_if": {"$from": "a.skip"}},
  {"id": "c", "depends_on": ["b"]}]');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/a', 'completed', '{"skip": true}');
select qwf_test.attempt('s/c', 'fatal', error => 'boom');
select is(
  qwf_test.nodes(), 's/a completed, s/b skipped, s/c failed', 'c failed behind a skipped node');
select is(qwf.retry_run(qwf_test.run()), 1, 'a skipped node is kept');
select qwf_test.attempt('s/c', 'fatal', error => 'boom');
select qwf.retry_run(qwf_test.run(), 's/a');
select qwf_test.attempt('s/a', 'completed', '{"skip": false}');
select is(
  qwf_test.nodes(), 's/a completed, s/b queued, s/c blocked', 'the condition is evaluated again');
select is_empty('select * from qwf.check_invariants()', 'the counters are right');
