-- 4 tests
select qwf.register_pipeline('{"name": "p", "nodes": [{"id": "a"},
  {"id": "b", "depends_on": ["a"]},
  {"id": "tidy", "depends_on": ["b"], "run_if": "all_done"}]}');
select qwf.register_workflow('{"name": "w", "deadline": "1 h", "steps": [
  {"id": "s", "kind": "pipeline", "pipeline": "p"}]}');
select qwf.enqueue_run('w', run_at => qwf.now() + interval '1 day');
select is((select deadline_at - run_at from qwf.runs), '1 h'::interval, 'from run_at');
select qwf_test.travel('1 day'), _qwf.promote_due();
select qwf_test.work();
select qwf_test.travel('1 h'), qwf.tick();
select is(qwf_test.nodes(), 's/a completed, s/b cancelled, s/tidy queued', 'clean-up runs');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
select qwf_test.work();
select is(qwf_test.run_state(), 'failed', 'then it has failed');
