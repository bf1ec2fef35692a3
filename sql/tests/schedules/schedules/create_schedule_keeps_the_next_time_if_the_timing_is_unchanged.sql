-- 4 tests
select qwf_test.set_now('2026-03-01 12:00:30+00');

select qwf.create_schedule('c', 't', cron => '0 * * * *');
select qwf.create_schedule('e', 't', every => '37 minutes');
select qwf_test.set_now('2026-03-01 13:20:00+00');
select is(qwf.create_schedule('c', 't', cron => '0 * * * *'), '2026-03-01 13:00:00+00',
  'the same definition: missed times are not forgotten');
select is(qwf.create_schedule('e', 't', every => '37 minutes'), '2026-03-01 12:37:30+00',
  'a grid without an anchor keeps its anchor');
select is(qwf.create_schedule('c', 'u', cron => '0 * * * *', args => '{"n": 1}', priority => 5),
  '2026-03-01 13:00:00+00', 'another task with the same timing');
select results_eq($$ select task, args, priority from qwf.schedules where name = 'c' $$,
  $$ values ('u', '{"n": 1}'::jsonb, 5) $$, 'fires next');
