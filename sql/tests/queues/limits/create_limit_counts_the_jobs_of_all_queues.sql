-- 2 tests
select qwf.create_limit('api', 1);
select qwf.enqueue('a', queue => 'cpu', limit_by => 'api'),
  qwf.enqueue('b', queue => 'gpu', limit_by => 'api'),
  qwf.enqueue('c', queue => 'gpu');
select is(qwf_test.claim('cpu', 9), 'claimed a', 'one queue has the slot');
select is(qwf_test.claim('gpu', 9), 'claimed c', 'the other hands out jobs without the limit');
