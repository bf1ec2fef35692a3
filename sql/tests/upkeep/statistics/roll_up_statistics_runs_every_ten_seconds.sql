-- 5 tests
select qwf_test.set_now('2030-01-01');
select setval('qwf.next_roll_up', 0);
insert into qwf.attempt_counts values
  ('2030-01-01', 'cpu', 'a', 'completed', '{0}', '{0}');
select is(_qwf.roll_up_statistics(), 1, 'the first time');
insert into qwf.attempt_counts values
  ('2030-01-01', 'cpu', 'a', 'completed', '{0}', '{0}');
select qwf_test.travel('9 s');
select is(_qwf.roll_up_statistics(), 0, 'not so soon again');
select qwf_test.travel('1 s');
select is(_qwf.roll_up_statistics(), 1, 'when it is time');
insert into qwf.attempt_counts values
  ('2030-01-01', 'cpu', 'a', 'completed', '{0}', '{0}');
select qwf_test.travel('-1 hour');
select is(_qwf.roll_up_statistics(), 1, 'although the clock was set back');
insert into qwf.attempt_counts
select '2030-01-01', 'cpu', 'a', 'completed', '{0}', '{0}' from generate_series(1, 5001);
select qwf_test.travel('10 s');
select is(array[_qwf.roll_up_statistics(), _qwf.roll_up_statistics()], '{5000,1}',
  'at once while there is more');
