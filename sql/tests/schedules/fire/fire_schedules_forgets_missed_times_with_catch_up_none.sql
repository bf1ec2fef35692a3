-- 7 tests
-- catch_up none: a time is missed once it is older than a minute.
select qwf_test.set_now('2026-03-01 12:00:30+00');

select qwf.create_schedule('x', 't', cron => '*/5 * * * *', catch_up => 'none');
select qwf_test.set_now('2026-03-01 15:32:00+00');
select is(_qwf.fire_schedules(), 0, 'three hours later');
select is((select next_at from qwf.schedules), '2026-03-01 15:35:00+00', 'the next time');
select is((select skipped from qwf.schedules), 42::bigint, 'and counts the missed times');
select qwf_test.set_now('2026-03-01 15:35:40+00');
select is(_qwf.fire_schedules(), 1, 'a late tick misses nothing');
select qwf_test.set_now('2026-03-01 16:00:30+00');
select is(_qwf.fire_schedules(), 0, 'the last job is unfinished');
update qwf.schedules set overlap = 'allow', next_at = '2026-03-01 15:40:00+00';
select is(_qwf.fire_schedules(), 1, 'the latest time, if less than a minute old');
select is((select last_due_at from qwf.schedules), '2026-03-01 16:00:00+00', 'fired for that time');
