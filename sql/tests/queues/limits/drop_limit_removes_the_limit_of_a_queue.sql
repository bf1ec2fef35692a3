-- 4 tests
select qwf.create_queue('cpu', max_running => 1);
select qwf.enqueue('a', queue => 'cpu'), qwf.enqueue('b', queue => 'cpu');
select is(qwf_test.claim('cpu', 9), 'claimed a', 'one at a time');
select qwf.sleep('w', 'cpu'), qwf.drop_limit('queue:cpu');
select is(qwf_test.woken(), 'w', 'sleepers are woken');
select is(qwf_test.claim('cpu', 9), 'claimed b', 'no longer limited');
select qwf_test.report('a');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
