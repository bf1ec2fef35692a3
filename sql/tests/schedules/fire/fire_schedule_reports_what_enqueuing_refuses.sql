-- 3 tests
select qwf.create_schedule('nightly', 't', cron => '@daily', queue => 'cpu');
select throws_ok($$ select qwf.fire_schedule('nigthly') $$, 'QW001', 'unknown schedule',
  'an unknown schedule');
update qwf.schedules set queue = 'gone';
select throws_ok($$ select qwf.fire_schedule('nightly') $$, 'QW006', null, 'its queue is gone');
select is((select fired + failed from qwf.schedules), 0::bigint, 'nothing is counted');
