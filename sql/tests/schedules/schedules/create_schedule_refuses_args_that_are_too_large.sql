-- 2 tests
select throws_ok(
  $$ select qwf.create_schedule('x', 't', cron => '@daily',
       args => jsonb_build_object('a', repeat('x', 1048576))) $$,
  'QW005', 'invalid schedule', 'as enqueue would');
select throws_ok($$ select qwf.create_schedule('x', 't', cron => '@daily', args => null) $$,
  'QW005', 'invalid schedule', 'null is not an object');
