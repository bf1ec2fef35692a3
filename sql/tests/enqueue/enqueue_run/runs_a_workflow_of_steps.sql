-- 5 tests
-- A step depends on all leaves of the steps it names; the first nodes of its pipeline inherit that.
select qwf.register_pipeline('{"name": "p", "nodes": [
  {"id": "a", "node": "a"}, {"id": "b", "node": "b", "depends_on": ["a"]}, {"id": "c", "node": "c",
    "depends_on": ["a"]}]}');
select qwf.register_workflow('{"name": "w", "steps": [
  {"id": "x", "kind": "pipeline", "pipeline": "p"},
  {"id": "y", "kind": "pipeline", "pipeline": "p", "depends_on": ["x"]}]}');
select qwf.enqueue_run('w');
select is(qwf_test.work(), 1, 'the first node of x');
select qwf_test.claim('cpu', 2), qwf_test.report('x/b');
select is(qwf_test.state('y/a'), 'blocked', 'one leaf of x is not enough');
select qwf_test.report('x/c');
select is(qwf_test.state('y/a'), 'queued', 'all are');
select is(qwf_test.work() + qwf_test.work(), 3, 'the three of y');
select is(qwf_test.run_state(), 'completed', 'to the end');
