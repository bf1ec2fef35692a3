-- 5 tests
select qwf_test.set_now('2026-03-01 12:00:30+00');

select qwf.create_schedule('c', 't', cron => '0 * * * *');
select qwf.create_schedule('e', 't', every => '37 minutes');
select qwf_test.set_now('2026-03-01 13:20:00+00');
select is(qwf.create_schedule('c', 't', cron => '30 * * * *'), '2026-03-01 13:30:00+00',
  'another expression');
select is(qwf.create_schedule('c', 't', cron => '30 * * * *', timezone => 'Asia/Kathmandu'),
  '2026-03-01 13:45:00+00', 'another time zone');
select is(qwf.create_schedule('e', 't', every => '1 h'), '2026-03-01 14:20:00+00', 'another grid');
select is(qwf.create_schedule('e', 't', minute => 21), '2026-03-01 13:21:00+00', 'another kind');
select is((select anchor from qwf.schedules where name = 'e'), null::timestamptz,
  'the anchor is gone');
