-- 3 tests
select qwf_test.set_now('2026-03-01 12:00:30+00');

select qwf.create_schedule('x', 't', cron => '*/5 * * * *');
select qwf.create_schedule('y', 'u', cron => '*/5 * * * *');
update qwf.schedules set timezone = 'Europe/Atlantis' where name = 'x';
select qwf_test.set_now('2026-03-01 12:05:00+00');
select is(_qwf.fire_schedules(), 2, 'both fire once more');
select results_eq('select name, enabled, last_error from qwf.schedules order by name',
  $$ values ('x', false, 'never due again: time zone Europe/Atlantis'), ('y', true, null) $$,
  'the reason names the unknown time zone');
select qwf_test.set_now('2026-03-01 12:10:00+00');
select qwf_test.work('default');
select is(_qwf.fire_schedules(), 1, 'the other schedule continues');
