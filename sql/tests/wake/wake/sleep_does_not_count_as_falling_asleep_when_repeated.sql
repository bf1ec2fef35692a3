-- 2 tests
select qwf_test.set_now('2026-01-01');
select qwf.sleep('a', 'default'), qwf.sleep('b', 'default'), qwf.sleep('c', 'cpu');
select qwf_test.travel('3 s');
select qwf.sleep('a', 'default'), qwf.sleep('b', 'default'), qwf.sleep('c', 'cpu');
select qwf.enqueue('one');
select ok(qwf_test.woken() ~ '^[ab]$', 'neither is about to look: one is woken');
select qwf.sleep('d', 'cpu');
select qwf.enqueue('one', queue => 'cpu');
select ok(qwf_test.woken() ~ 'd', 'nor do they make one fresh sleeper count as two');
