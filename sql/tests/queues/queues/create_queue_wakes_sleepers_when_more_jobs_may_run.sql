-- 2 tests
select qwf.create_queue('cpu', max_running => 1);
select qwf.enqueue('a', queue => 'cpu'), qwf.enqueue('b', queue => 'cpu');
select qwf_test.claim();
select qwf.sleep('w', 'cpu');
select qwf.create_queue('cpu', max_running => 2);
select is(qwf_test.woken(), 'w', 'raised');
select is(qwf_test.claim(), 'claimed b', 'one more');
