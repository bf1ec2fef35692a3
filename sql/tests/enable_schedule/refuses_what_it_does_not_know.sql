begin;
select plan(2);

select qwf.create_schedule('nightly', 't', cron => '@daily');
select throws_ok($$ select qwf.enable_schedule('nigthly') $$, 'QW001', 'unknown schedule',
  'a schedule that is not there');
select throws_ok($$ select qwf.enable_schedule('nightly', null) $$, 'QW005', 'neither on nor off',
  'a state that is none');

select * from finish();
rollback;
