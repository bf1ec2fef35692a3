-- 8 tests
select qwf_test.set_now('2026-03-01 12:00:30+00');

select is(qwf.create_schedule('a', 't', cron => '30 3 * * MON-FRI'), '2026-03-02 03:30:00+00',
  'by cron; 1 March is a Sunday');
select is(qwf.create_schedule('b', 't', cron => '@daily', timezone => 'Europe/Berlin'),
  '2026-03-01 23:00:00+00', 'in a time zone');
select is(qwf.create_schedule('c', 't', minute => 0), '2026-03-01 13:00:00+00', 'by minute');
select is(qwf.create_schedule('d', 't', minute => 5, hours => '{21, 3}'), '2026-03-01 21:05:00+00',
  'by minute and hours');
select is(qwf.create_schedule('e', 't', every => '37 minutes'), '2026-03-01 12:37:30+00',
  'by interval, from now on');
select is(qwf.create_schedule('f', 't', every => '37 minutes', anchor => '2026-03-01 12:00:00+00'),
  '2026-03-01 12:37:00+00', 'by interval, on a grid');
select is(qwf.create_schedule('g', 't', every => '1 s', anchor => '2026-04-01 00:00:00+00'),
  '2026-04-01 00:00:00+00', 'not before the grid begins');
select is(qwf.create_schedule('h', 't', cron => '* * * * *', enabled => false), null::timestamptz,
  'never while it is off');
