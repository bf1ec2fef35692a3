-- 2 tests
select qwf_test.workflow('w', '[
  {"id": "root"}, {"id": "a", "depends_on": ["root"], "gpu": true,
    "inputs": {"x": {"$from": "root.gone"}}},
  {"id": "b", "depends_on": ["root"], "inputs": {"x": {"$from": "root.gone"}}}]');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/root');
select qwf_test.claim('cpu'), qwf_test.travel('1 s');
select qwf_test.claim('gpu');
select is((select count(*) from qwf.outbox), 2::bigint, 'two nodes failed before anybody looked');
select qwf.drain_outbox();
select matches((select error from qwf.runs), '^s/b failed', 'the reason is the first by time');
