-- 3 tests
select qwf.enqueue('a');
select is(qwf.follow_log(qwf_test.job('a')),
  row('queued', 0, null, null, null, null, null)::qwf.live_log,
  'queued');
select qwf_test.claim('default');
select qwf_test.report('a', 'completed');
select is((qwf.follow_log(qwf_test.job('a'))).status, 'completed', 'completed');
select is_empty('select * from qwf.live_logs', 'no worker was asked');
