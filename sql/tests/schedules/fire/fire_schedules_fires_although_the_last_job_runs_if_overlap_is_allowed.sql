-- 2 tests
select qwf_test.set_now('2026-03-01 12:00:30+00');

select qwf.create_schedule('x', 't', cron => '*/5 * * * *', overlap => 'allow');
select qwf_test.set_now('2026-03-01 12:05:00+00');
select is(_qwf.fire_schedules(), 1, 'the first');
select qwf_test.set_now('2026-03-01 12:10:00+00');
select is(_qwf.fire_schedules(), 1, 'the second as well');
