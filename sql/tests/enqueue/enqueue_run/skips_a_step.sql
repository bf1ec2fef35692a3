-- 2 tests
select qwf_test.workflow('w', '[{"id": "a"}, {"id": "b", "depends_on": ["a"]}]',
  '{"skip_if": {"$from": "quick"}}');
select qwf.enqueue_run('w', '{"quick": true}');
select is(qwf_test.nodes(), 's/a skipped, s/b skipped', 'all its nodes');
select is(qwf_test.run_state(), 'completed', 'nothing is left');
