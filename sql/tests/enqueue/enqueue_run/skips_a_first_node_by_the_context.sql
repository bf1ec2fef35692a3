-- 3 tests
select qwf_test.workflow('w', '[
  {"id": "a", "skip_if": {"$from": "quick", "$default": false}}, {"id": "b",
    "depends_on": ["a"]}]');
select qwf.enqueue_run('w', '{"quick": true}');
select is(qwf_test.nodes(), 's/a skipped, s/b queued', 'at once');
select qwf.enqueue_run('w');
select is(qwf_test.nodes(), 's/a queued, s/b blocked', 'or not');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
