select qwf.enqueue('held', max_attempts => 5, backoff => '[0]');
select qwf.enqueue('other');
select qwf_test.claim('default');
select qwf_test.report('held', 'released');
select qwf_test.claim('default');
select qwf_test.report('held', 'error');
select is(qwf_test.claim('default', 2), 'claimed other, held',
  'a failure afterwards queues at the end');
