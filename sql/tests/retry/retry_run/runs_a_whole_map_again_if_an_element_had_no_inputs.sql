-- 3 tests
select qwf_test.workflow('w', '[{"id": "m", "map": {"$value": [{"p": 1}, {}]}, "min_success": 1,
  "inputs": {"x": {"$from": "item.p"}}}]');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/m[0]', 'fatal');
select is(qwf_test.nodes(), 's/m failed, s/m[0] failed, s/m[1] failed', 'both failed');
select qwf.retry_run(qwf_test.run());
select is(qwf_test.nodes(), 's/m blocked, s/m[0] queued, s/m[1] failed',
  'nothing is handed out without inputs');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
