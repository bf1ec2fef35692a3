-- 3 tests
select qwf_test.workflow('w', '[{"id": "m", "map": {"$value": [1, 2, 3]}, "min_success": 2,
  "inputs": {"x": {"$from": "item"}}}]');
select qwf.enqueue_run('w');
select qwf_test.claim('cpu', 3);
select qwf_test.report('s/m[0]'), qwf_test.report('s/m[1]', 'fatal'),
  qwf_test.report('s/m[2]', 'fatal');
select is(qwf_test.nodes(),
  's/m failed, s/m[0] completed, s/m[1] failed, s/m[2] failed', 'two of three failed');
select results_eq($$
  select distinct verdict from qwf.retry_jobs(array(
    select j.id from qwf.jobs j where j.status = 'failed')) $$,
  $$ values ('retried') $$, 'the map and its elements are retried at once');
select is(qwf_test.nodes(),
  's/m blocked, s/m[0] completed, s/m[1] queued, s/m[2] queued', 'what completed stays');
