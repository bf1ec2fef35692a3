select qwf.enqueue('t', queue => 'gpu') from generate_series(1, 20);
select qwf_test.travel('1 s');
select qwf.sleep('w' || i, 'gpu') from generate_series(1, 20) i;
select is(_qwf.wake_overlooked(), 2, 'they pass the wake-up on');
