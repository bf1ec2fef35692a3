-- 3 tests
select qwf_test.workflow('join',
  '[{"id": "a"}, {"id": "b"}, {"id": "c", "depends_on": ["a", "b"]}]');
select qwf.enqueue_run('join');
select is(qwf_test.work(), 2, 'both at once');
select is(qwf_test.nodes(), 's/a completed, s/b completed, s/c queued', 'count as two');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
