-- 2 tests
select qwf.sleep('a', 'cpu'), qwf.sleep('a', 'gpu'), qwf.sleep('b', 'cpu');
select qwf.wake('a');
select results_eq('select worker from qwf.sleepers', array['b'], 'of all its queues');
select lives_ok($$ select qwf.wake('a') $$, 'twice does no harm');
