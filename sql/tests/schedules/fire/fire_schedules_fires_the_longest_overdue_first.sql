-- 3 tests
select qwf_test.set_now('2026-03-01 12:00:30+00');

select qwf.create_schedule('a', 'late', cron => '10 * * * *');
select qwf.create_schedule('b', 'early', cron => '5 * * * *');
select qwf.create_schedule('c', 'later', cron => '15 * * * *');
select qwf_test.set_now('2026-03-01 12:30:00+00');
select is(_qwf.fire_schedules(2), 2, 'at most two');
select results_eq('select task from qwf.jobs order by id', array['early', 'late'],
  'the longest overdue first');
select is(_qwf.fire_schedules(2), 1, 'the rest in the next call');
