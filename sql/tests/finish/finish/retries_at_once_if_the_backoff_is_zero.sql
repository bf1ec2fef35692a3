-- 3 tests
select qwf.enqueue('a', max_attempts => 2, backoff => '[0]');
select qwf_test.attempt('a', 'error');
select is(qwf_test.state('a'), 'queued', 'no wait, no schedule');

select qwf.enqueue('b', queue => 'cpu', max_attempts => 3, backoff => '[0, 1e-400]');
select qwf_test.attempt('b', 'error');
select qwf_test.attempt('b', 'error');
select is(qwf_test.state('b'), 'queued', 'nor almost zero in a list');

select qwf.enqueue('c', queue => 'gpu', max_attempts => 2,
  backoff => '{"base": 1e-400, "factor": 1e-400, "max": 1e-400}');
select qwf_test.attempt('c', 'error');
select is(qwf_test.state('c'), 'queued', 'nor almost zero that grows');
