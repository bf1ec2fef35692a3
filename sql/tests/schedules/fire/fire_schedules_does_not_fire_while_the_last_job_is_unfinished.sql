-- 6 tests
-- overlap skip, the default.
select qwf_test.set_now('2026-03-01 12:00:30+00');

select qwf.create_schedule('x', 't', cron => '*/5 * * * *');
select qwf_test.set_now('2026-03-01 12:05:00+00');
select is(_qwf.fire_schedules(), 1, 'the first');
select qwf_test.set_now('2026-03-01 12:10:00+00');
select is(_qwf.fire_schedules(), 0, 'its job is queued');
select qwf_test.claim('default');
select qwf_test.set_now('2026-03-01 12:15:00+00');
select is(_qwf.fire_schedules(), 0, 'its job is running');
select qwf_test.report('t');
select is(_qwf.fire_schedules(), 0, 'a skipped time does not fire later');
select is((select skipped from qwf.schedules), 2::bigint, 'but is counted');
select qwf_test.set_now('2026-03-01 12:20:00+00');
select is(_qwf.fire_schedules(), 1, 'the next');
