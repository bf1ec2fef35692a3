-- catch_up none: what is older than a minute is forgotten.
begin;
select plan(7);

select qwf_test.set_now('2026-03-01 12:00:30+00');

select qwf.create_schedule('x', 't', cron => '*/5 * * * *', catch_up => 'none');
select qwf_test.set_now('2026-03-01 15:32:00+00');
select is(qwf.fire_schedules(), 0, 'three hours later');
select is((select next_at from qwf.schedules), '2026-03-01 15:35:00+00', 'it waits for the next');
select is((select skipped from qwf.schedules), 1::bigint, 'and says that there was something');
select qwf_test.set_now('2026-03-01 15:35:40+00');
select is(qwf.fire_schedules(), 1, 'a tick that comes late is no miss');
select qwf_test.set_now('2026-03-01 16:00:30+00');
select is(qwf.fire_schedules(), 0, 'while the one before is open');
update qwf.schedules set overlap = 'allow', next_at = '2026-03-01 15:40:00+00';
select is(qwf.fire_schedules(), 1, 'the latest, if it is fresh');
select is((select last_due_at from qwf.schedules), '2026-03-01 16:00:00+00', 'as that one');

select * from finish();
rollback;
