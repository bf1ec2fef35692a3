begin;
select plan(3);

select qwf_test.set_now('2026-01-01');
select qwf.sleep('a', 'default'), qwf.sleep('b', 'default'), qwf.sleep('c', 'cpu');
select qwf_test.travel('3 s');
select qwf.sleep('a', 'default'), qwf.sleep('b', 'default'), qwf.sleep('c', 'cpu');
select qwf.enqueue('one');
select ok(qwf_test.woken() ~ '^[ab]$', 'neither is about to look: one is woken');
select qwf.sleep('d', 'cpu');
select qwf.enqueue('one', queue => 'cpu');
select ok(qwf_test.woken() !~ '[cd]', 'one that has just fallen asleep is about to look');
select qwf.enqueue_many('[{"task": "x", "queue": "cpu"}, {"task": "y", "queue": "cpu"}]');
select ok(qwf_test.woken() ~ 'c, d', 'but it counts only as one');

select * from finish();
rollback;
