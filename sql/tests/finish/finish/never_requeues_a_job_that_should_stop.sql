-- 2 tests
select qwf.enqueue('released'), qwf.enqueue('failed', max_attempts => 5), qwf.enqueue('lost'),
  qwf.enqueue('later');
select qwf_test.claim('default', 4);
select qwf.cancel_job(id) from qwf.jobs;
select qwf_test.report('released', 'released'), qwf_test.report('failed', 'error'),
  qwf_test.report('lost', 'lost'),
  qwf_test.report('later', 'tempfail');
select results_eq('select distinct status::text from qwf.jobs', array['cancelled'], 'it is over');
select is_empty('select * from qwf.cancel_requests', 'the requests are settled');
