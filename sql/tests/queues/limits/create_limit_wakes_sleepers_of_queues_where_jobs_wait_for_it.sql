-- 3 tests
select qwf.create_limit('api', 1);
select qwf.enqueue('a', queue => 'cpu', limit_by => 'api'),
  qwf.enqueue('b', queue => 'gpu', limit_by => 'api');
select qwf_test.claim('cpu');
select qwf.sleep('g', 'gpu'), qwf.sleep('d', 'default');
update qwf.sleepers set since = since - interval '10 ms';
select is(qwf_test.woken(), null, 'nobody so far');
select qwf_test.report('a');
select is(qwf_test.woken(), 'g', 'b waited for the slot of a');
select qwf_test.claim('gpu');
select qwf.sleep('h', 'gpu'), qwf.enqueue('c', queue => 'gpu', limit_by => 'api');
select qwf.create_limit('api', 2);
select is(qwf_test.woken(), 'g, h', 'c waited for a new slot');
