begin;
select plan(2);

select qwf.create_limit('api', 1);
select qwf.enqueue('a', queue => 'cpu', limit_by => 'api'),
  qwf.enqueue('b', queue => 'gpu', limit_by => 'api'),
  qwf.enqueue('c', queue => 'gpu');
select is(qwf_test.claim('cpu', 9), 'claimed a', 'one queue has the place');
select is(qwf_test.claim('gpu', 9), 'claimed c', 'the other goes on without it');

select * from finish();
rollback;
