-- 4 tests
select qwf_test.set_now('2030-01-01');
select qwf.enqueue('late', run_at => '2030-01-01 03:00'),
  qwf.enqueue('second', run_at => '2030-01-01 02:00'),
  qwf.enqueue('first', run_at => '2030-01-01 01:00');
select is(_qwf.promote_due(), 0, 'nothing is due');
select qwf_test.travel('2 h');
select is(_qwf.promote_due(), 2, 'two are, one to the moment');
select is(qwf_test.claim('default', 3), 'claimed first, second', 'in the order of run_at');
select is(qwf_test.state('late'), 'scheduled', 'the other waits');
