-- 3 tests
select qwf_test.set_now('2026-03-01 12:00:30+00');

select qwf.create_schedule('x', 't', cron => '0 * * * *');
select qwf_test.set_now('2026-03-01 15:30:00+00');
select is(qwf.enable_schedule('x'), '2026-03-01 13:00:00+00', 'a missed time stays due');
select is(qwf.enable_schedule('x', false), null::timestamptz, 'off');
select is(qwf.enable_schedule('x', false), null::timestamptz, 'off again');
