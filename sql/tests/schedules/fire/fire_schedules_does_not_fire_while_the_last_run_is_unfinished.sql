-- 3 tests
select qwf_test.set_now('2026-03-01 12:00:30+00');

select qwf_test.workflow('w', '[{"id": "a"}]');
select qwf.create_schedule('x', workflow => 'w', cron => '*/5 * * * *');
select qwf_test.set_now('2026-03-01 12:05:00+00');
select is(_qwf.fire_schedules(), 1, 'the first');
select qwf_test.set_now('2026-03-01 12:10:00+00');
select is(_qwf.fire_schedules(), 0, 'its run is unfinished');
select qwf.cancel_run(qwf_test.run());
select qwf_test.set_now('2026-03-01 12:15:00+00');
select is(_qwf.fire_schedules(), 1, 'a cancelled run has ended too');
