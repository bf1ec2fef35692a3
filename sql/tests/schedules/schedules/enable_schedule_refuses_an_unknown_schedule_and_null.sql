-- 2 tests
select qwf.create_schedule('nightly', 't', cron => '@daily');
select throws_ok($$ select qwf.enable_schedule('nigthly') $$, 'QW001', 'unknown schedule',
  'an unknown schedule');
select throws_ok($$ select qwf.enable_schedule('nightly', null) $$, 'QW005',
  'enabled must be true or false', 'null');
