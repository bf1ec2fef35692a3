-- 3 tests
select qwf_test.set_now('2026-03-01 12:00:30+00');

select qwf.create_schedule('x', 't', every => '37 minutes', anchor => '2026-03-01 00:00:00+00',
  overlap => 'allow');
select is((select next_at from qwf.schedules), '2026-03-01 12:20:00+00', '20 times 37 minutes');
select qwf_test.set_now('2026-03-01 12:20:03+00');
select _qwf.fire_schedules();
select is((select next_at from qwf.schedules), '2026-03-01 12:57:00+00',
  'a late tick does not move it');
select qwf_test.set_now('2026-03-02 12:00:00+00');
select _qwf.fire_schedules();
select is((select next_at from qwf.schedules), '2026-03-02 12:23:00+00', 'nor does a missed day');
