-- 3 tests
select qwf_test.set_now('2026-01-01');
select qwf.sleep('a', 'default'), qwf.sleep('b', 'default');
select qwf_test.travel('3 ms');
select qwf.enqueue('one');
select is(qwf_test.woken(), null, 'both look again within five milliseconds');
select qwf.enqueue_many('[{"task": "x"}, {"task": "y"}, {"task": "z"}]');
select is(qwf_test.woken(), 'a, b', 'unless there are more jobs than they take');
select qwf.wake('a'), qwf.wake('b'), qwf.sleep('c', 'cpu');
select qwf.enqueue('one', queue => 'cpu');
select ok(qwf_test.woken() ~ 'c', 'one alone is woken');
