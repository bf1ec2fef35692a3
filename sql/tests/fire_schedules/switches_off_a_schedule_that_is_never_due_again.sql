begin;
select plan(3);

select qwf_test.set_now('2026-03-01 12:00:30+00');

select qwf.create_schedule('x', 't', cron => '*/5 * * * *');
select qwf.create_schedule('y', 'u', cron => '*/5 * * * *');
update qwf.schedules set timezone = 'Europe/Atlantis' where name = 'x';
select qwf_test.set_now('2026-03-01 12:05:00+00');
select is(qwf.fire_schedules(), 2, 'this time both are due');
select results_eq('select name, enabled, last_error from qwf.schedules order by name',
  $$ values ('x', false, 'never due again: time zone Europe/Atlantis'), ('y', true, null) $$,
  'a server that does not know the time zone says so');
select qwf_test.set_now('2026-03-01 12:10:00+00');
select qwf_test.work('default');
select is(qwf.fire_schedules(), 1, 'and the other goes on');

select * from finish();
rollback;
