-- 3 tests
select qwf_test.set_now('2026-03-01 12:00:30+00');

select qwf.create_schedule('c', 't', cron => '0 * * * *');
select qwf.enable_schedule('c', false);
select is(qwf.create_schedule('c', 't', cron => '5 * * * *'), null::timestamptz,
  'an application start does not undo what an operator did');
select is(qwf.create_schedule('c', 't', cron => '5 * * * *', enabled => true),
  '2026-03-01 12:05:00+00', 'unless it passes true');
select is(qwf.create_schedule('c', 't', cron => '5 * * * *', enabled => false), null::timestamptz,
  'or false');
