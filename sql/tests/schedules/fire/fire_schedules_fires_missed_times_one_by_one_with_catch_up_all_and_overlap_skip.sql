-- 6 tests
-- catch_up all with overlap skip.
select qwf_test.set_now('2026-03-01 12:00:30+00');

select qwf.create_schedule('x', 't', cron => '*/5 * * * *', catch_up => 'all');
select qwf.create_schedule('y', 'other', cron => '20 * * * *');
select qwf_test.set_now('2026-03-01 12:21:00+00');
select is(_qwf.fire_schedules(p_max_schedules => 1), 1, 'the first');
select is(_qwf.fire_schedules(p_max_schedules => 1), 1, 'it does not count while it waits');
select is(qwf_test.state('other'), 'queued', 'the other schedule fired');
select qwf_test.work('default');
select is(_qwf.fire_schedules(), 1, 'the second follows');
select is((select last_due_at from qwf.schedules where name = 'x'), '2026-03-01 12:10:00+00',
  'for the time after the first');
select is((select skipped from qwf.schedules where name = 'x'), 0::bigint, 'nothing is skipped');
