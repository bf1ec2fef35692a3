-- 2 tests
select qwf_test.workflow('w', '[{"id": "a"}, {"id": "b", "depends_on": ["a"]},
  {"id": "c", "depends_on": ["b"]}]');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/a', 'fatal');
select qwf.retry_run(qwf_test.run(), 's/c');
select is(qwf_test.nodes(), 's/a queued, s/b blocked, s/c blocked',
  'otherwise the run could never end');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
