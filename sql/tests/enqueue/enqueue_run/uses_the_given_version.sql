-- 3 tests
select qwf_test.workflow('w', '[{"id": "a"}]');
select qwf.register_workflow('{"name": "w", "steps": [
  {"id": "t", "kind": "pipeline", "pipeline": "w"}]}');
select qwf.enqueue_run('w@1');
select results_eq('select workflow, workflow_version from qwf.runs', $$ values ('w', 1) $$,
  'an old one');
select is(qwf_test.nodes(), 's/a queued', 'as it was');
select qwf.enqueue_run('w');
select is(qwf_test.nodes(), 't/a queued', 'or the current one');
