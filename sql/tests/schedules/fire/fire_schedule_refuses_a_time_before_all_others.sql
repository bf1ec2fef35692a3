-- 2 tests
select qwf.create_schedule('s', task => 'work', every => '1 h', anchor => '2026-01-01');
select throws_ok($$ select qwf.fire_schedule('s', '-infinity') $$, 'QW005',
  'the schedule has no such time', 'before all times');
select throws_ok($$ select qwf.fire_schedule('s', '4714-12-01 BC') $$, 'QW005',
  'the schedule has no such time', 'a time that no client can read');
