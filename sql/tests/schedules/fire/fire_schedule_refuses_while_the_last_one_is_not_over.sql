-- 6 tests
select qwf.create_schedule('x', 'a', cron => '@daily', queue => 'cpu');
select qwf.create_schedule('y', 'b', cron => '@daily', queue => 'cpu', overlap => 'allow');
select qwf.fire_schedule('x'), qwf.fire_schedule('y');
select throws_ok($$ select qwf.fire_schedule('x') $$, 'QW002',
  'what the schedule enqueued last is not over', 'its job waits');
select qwf_test.explains($$ select qwf.fire_schedule('x') $$,
  'schedule x, job ' || qwf_test.job('a'), 'it is named');
select lives_ok($$ select qwf.fire_schedule('y') $$, 'with overlap allow it fires');
select is((select fired || ' ' || skipped from qwf.schedules where name = 'x'), '1 0',
  'a refusal is not counted');
select qwf.cancel_job(qwf_test.job('a'));
select lives_ok($$ select qwf.fire_schedule('x') $$, 'it is over');
select is((select count(*)::int from qwf.jobs where task = 'a'), 2, 'once more');
