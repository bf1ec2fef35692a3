-- 2 tests
create temp table who as select qwf.register_worker('box', 'gpu') as one;
select throws_ok($$ select qwf.take_model_requests('ghost') $$, 'QW001', 'no such worker',
  'never registered');
select qwf.deregister_worker(one) from who;
select throws_ok($$ select qwf.take_model_requests(one) from who $$, 'QW001', 'no such worker',
  'deregistered');
