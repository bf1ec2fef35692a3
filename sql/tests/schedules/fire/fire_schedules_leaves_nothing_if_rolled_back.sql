-- 3 tests
select qwf_test.set_now('2026-03-01 12:00:30+00');

select qwf.create_schedule('x', 't', cron => '*/5 * * * *');
select qwf_test.set_now('2026-03-01 12:05:00+00');
savepoint before;
select _qwf.fire_schedules();
rollback to before;
select is((select next_at from qwf.schedules), '2026-03-01 12:05:00+00', 'still due');
select is_empty('select * from qwf.jobs', 'nothing enqueued');
select is(_qwf.fire_schedules(), 1, 'then it fires');
