-- 3 tests
select qwf_test.workflow('fork', '[{"id": "a"}, {"id": "b"}, {"id": "c", "depends_on": ["b"]}]');
select qwf.enqueue_run('fork');
select qwf_test.claim('cpu', 2);
select qwf_test.report('s/a', 'fatal'), qwf_test.report('s/b', output => '{"n": 1}');
select is(qwf_test.nodes(), 's/a failed, s/b completed, s/c cancelled',
  'it completed anyway, and opens nothing');
select is(qwf_test.run_state(), 'failed', 'the run stays failed');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
