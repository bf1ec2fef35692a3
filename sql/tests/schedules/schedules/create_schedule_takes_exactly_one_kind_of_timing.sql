-- 4 tests
select throws_ok($$ select qwf.create_schedule('x', 't') $$, 'QW005', 'invalid schedule', 'none');
select throws_ok($$ select qwf.create_schedule('x', 't', cron => '@daily', every => '1 h') $$,
  'QW005', 'invalid schedule', 'two');
select throws_ok($$ select qwf.create_schedule('x', 't', cron => '@daily', hours => '{3}') $$,
  'QW005', 'invalid schedule', 'hours without a minute');
select throws_ok($$ select qwf.create_schedule('x', 't', minute => 5, anchor => qwf.now()) $$,
  'QW005', 'invalid schedule', 'an anchor without every');
