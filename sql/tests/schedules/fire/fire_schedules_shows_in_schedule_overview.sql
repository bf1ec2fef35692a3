-- 2 tests
select qwf_test.set_now('2026-03-01 12:00:30+00');

select qwf.create_schedule('a', 't', minute => 5, hours => '{3, 12}');
select qwf.create_schedule('b', 't', every => '37 minutes');
select qwf.create_schedule('c', 't', cron => '@daily', timezone => 'Europe/Berlin');
select qwf.create_schedule('d', 't', minute => 0, enabled => false);
select results_eq(
  'select name, what, due, timezone, next_in from qwf.schedule_overview',
  $$ values ('a', 'task t', 'minute 5 of hours 3,12', 'UTC', interval '00:04:30'),
    ('b', 'task t', 'every 00:37:00', null, '00:37:00'),
    ('c', 'task t', '@daily', 'Europe/Berlin', '10:59:30'),
    ('d', 'task t', 'minute 0 of every hour', 'UTC', null) $$, 'the next due comes first');
select qwf_test.set_now('2026-03-01 12:05:00+00');
select _qwf.fire_schedules();
select is((select last_status from qwf.schedule_overview where name = 'a'), 'queued',
  'with the status of its last job');
