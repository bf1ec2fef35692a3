-- 2 tests
-- The longest retention allowed; jobs of other queues are still pruned.
select throws_ok($$ update qwf.queues set retention = '1001 years' where name = 'gpu' $$, '23514',
  null, 'no longer');
select qwf.create_queue('gpu', retention => '1000 years');
select qwf.enqueue('a', queue => 'gpu'), qwf.enqueue('b', queue => 'cpu');
select qwf_test.attempt('a'), qwf_test.attempt('b');
select qwf_test.travel('40 days');
select qwf.prune();
select results_eq('select task from qwf.jobs', array['a'], 'the other is gone');
