-- 3 tests
select qwf_test.workflow('w', '[{"id": "a",
  "skip_if": {"$from": "quick", "$filter": {"eq:on": true}}}, {"id": "b"}]');
select qwf.enqueue_run('w', '{"quick": 5}');
select is(qwf_test.nodes(), 's/a failed, s/b cancelled', 'that ends it');
select matches((select error from qwf.runs), '^s/a failed: QW005.*needs a list', 'saying why');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
