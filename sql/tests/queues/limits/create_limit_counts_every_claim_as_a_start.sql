-- 5 tests
select qwf_test.set_now('2026-01-01 12:00:00Z');
select qwf.create_limit('smtp', starts => 3, per => '10 s');
select qwf.enqueue('retried', queue => 'cpu', limit_by => 'smtp', max_attempts => 9,
  backoff => '[0]', priority => 1);
select qwf.enqueue('other', queue => 'cpu', limit_by => 'smtp');
select is(qwf_test.claim(), 'claimed retried', 'the first start');
select qwf_test.report('retried', 'error');
select is(qwf_test.claim(), 'claimed retried', 'a retry is a start');
select qwf_test.report('retried', 'released');
select is(qwf_test.claim(), 'claimed retried', 'a job that was released has used its start');
select is(qwf_test.claim('cpu', 9), 'claimed nothing', 'that were three');
select qwf_test.travel('10 s');
select is(qwf_test.claim('cpu', 9), 'claimed other', 'a period later');
