-- 4 tests
select qwf_test.set_now('2026-03-01 12:00:30+00');

select qwf.create_schedule('x', 't', cron => '0 * * * *');
select is(qwf.enable_schedule('x', false), null::timestamptz, 'off, it is never due');
select qwf_test.set_now('2026-03-01 15:30:00+00');
select is(_qwf.fire_schedules(), 0, 'it does not fire');
select is(qwf.enable_schedule('x'), '2026-03-01 16:00:00+00',
  'on again, missed times are not made up for');
select is(_qwf.fire_schedules(), 0, 'it waits');
