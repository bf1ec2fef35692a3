-- 4 tests
select qwf.create_schedule('nightly', 't', cron => '@daily');
select throws_ok($$ select qwf.drop_schedule('nigthly') $$, 'QW001', 'unknown schedule', 'unknown');
select qwf_test.explains($$ select qwf.drop_schedule('nigthly') $$, '%''nigthly''',
  'the detail names it');
select throws_ok($$ select qwf.drop_schedule(null) $$, 'QW001', 'unknown schedule', 'null');
select isnt_empty('select * from qwf.schedules', 'the other one stays');
