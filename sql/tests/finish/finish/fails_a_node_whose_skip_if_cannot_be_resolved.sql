-- 3 tests
select qwf_test.workflow('fork', '[
  {"id": "a"}, {"id": "b", "depends_on": ["a"], "skip_if": {"$from": "a.gone"}}, {"id": "c",
    "depends_on": ["a"]}]');
select qwf.enqueue_run('fork');
select qwf_test.attempt('s/a');
select is(qwf_test.nodes(), 's/a completed, s/b failed, s/c cancelled', 'and with it the run');
select matches((select error from qwf.runs), '^s/b failed: QW004.*gone', 'which says why');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
