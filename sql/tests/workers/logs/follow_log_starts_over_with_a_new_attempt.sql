-- 2 tests
select qwf.enqueue('a', max_attempts => 2, backoff => '[0]');
select qwf_test.claim('default');
select qwf.follow_log(qwf_test.job('a'));
select qwf.report_log(qwf_test.job('a'), qwf_test.token('a'), 5, 'first');
select qwf_test.report('a', 'error');
select _qwf.promote_due();
select qwf_test.claim('default');
select is(qwf.follow_log(qwf_test.job('a')),
  row('running', 2, null, null, null, null, null)::qwf.live_log,
  'the output of the first attempt is not shown for the second');
select qwf.report_log(qwf_test.job('a'), qwf_test.token('a'), 3, 'new');
select is(qwf.follow_log(qwf_test.job('a')),
  row('running', 2, 3, 'new', null, null, null)::qwf.live_log, 'its own');
