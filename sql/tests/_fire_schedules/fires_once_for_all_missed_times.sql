-- catch_up one, the default.
begin;
select plan(3);

select qwf_test.set_now('2026-03-01 12:00:30+00');

select qwf.create_schedule('x', 't', cron => '*/5 * * * *');
select qwf_test.set_now('2026-03-01 15:32:00+00');
select is(_qwf.fire_schedules(), 1, 'for 42 missed times');
select is((select last_due_at from qwf.schedules), '2026-03-01 12:05:00+00',
  'for the first of them');
select is((select next_at from qwf.schedules), '2026-03-01 15:35:00+00', 'then continues as usual');

select * from finish();
rollback;
