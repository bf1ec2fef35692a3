-- 5 tests
select qwf_test.set_now('2026-03-01 12:30:00+00');
select qwf.create_schedule('hourly', 't', cron => '0 * * * *');
select qwf.create_schedule('half', 't', every => '30 min', anchor => '2026-03-01 00:00+00');

select results_eq($$ select due_at from qwf.due_times('hourly', 3) $$,
  $$ values ('2026-03-01 13:00:00+00'::timestamptz), ('2026-03-01 14:00:00+00'),
    ('2026-03-01 15:00:00+00') $$, 'full hours');
select is((select max(due_at) from qwf.due_times('half') t), '2026-03-01 15:00:00+00',
  'five times, if no number is given');
select qwf.enable_schedule('hourly', false);
select is_empty($$ select * from qwf.due_times('hourly') $$, 'a disabled schedule has none');
select throws_ok($$ select qwf.due_times('hourl') $$, 'QW001', null, 'a misspelt name is refused');
select throws_ok($$ select qwf.due_times('half', 101) $$, 'QW005', null, '100 times at most');
