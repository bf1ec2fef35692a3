select qwf_test.set_now('2030-01-01');
select qwf.sleep('w', 'cpu');
select qwf_test.travel('3 s');
select qwf.sleep('w', 'cpu');
select qwf_test.travel('3 s');
select qwf.enqueue('one', queue => 'cpu');
select ok(qwf_test.woken() ~ 'w', 'it still sleeps');
