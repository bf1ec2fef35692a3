select qwf_test.workflow('w', '[{"id": "a"}]');
select qwf.enqueue_run('w');
create temp table held as select * from qwf.claim('cpu', 'w');
select count(qwf.finish(h.job_id, h.token, 'completed', '{"y": 1}')) from held h;
select qwf.retry_run(qwf_test.run(), 's/a');
select is((select qwf.finish(h.job_id, h.token, 'completed', '{"y": 1}') from held h), 'ok',
  'its answer was lost on the way');
