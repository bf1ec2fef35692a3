-- 4 tests
select qwf_test.set_now('2026-03-28 00:00:00+00');
select is(qwf.create_schedule('x', 't', cron => '30 2 * * *', timezone => 'Europe/Berlin',
  overlap => 'allow'), '2026-03-28 01:30:00+00', '02:30 in winter');
select qwf_test.set_now('2026-03-28 01:30:00+00');
select _qwf.fire_schedules();
select is((select next_at from qwf.schedules), '2026-03-29 01:00:00+00',
  'after the gap on the day without 02:30');
select qwf_test.set_now('2026-03-29 01:00:00+00');
select _qwf.fire_schedules();
select is((select next_at from qwf.schedules), '2026-03-30 00:30:00+00', '02:30 in summer');
select qwf_test.set_now('2026-10-25 00:30:00+00');
select _qwf.fire_schedules();
select is((select next_at from qwf.schedules), '2026-10-26 01:30:00+00',
  'once on the day that has 02:30 twice');
