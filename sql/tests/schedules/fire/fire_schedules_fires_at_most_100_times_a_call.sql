-- 4 tests
select qwf_test.set_now('2026-03-01 12:00:30+00');

select qwf.create_schedule('x', 't', cron => '* * * * *', catch_up => 'all', overlap => 'allow');
select qwf_test.set_now('2026-03-01 15:00:30+00');
select is(_qwf.fire_schedules(), 100, '100 of 180 minutes');
select is(_qwf.fire_schedules(), 80, 'the rest');
select is(_qwf.fire_schedules(), 0, 'no more');
select is((select count(distinct labels ->> 'due') from qwf.jobs), 180::bigint,
  'none twice');
