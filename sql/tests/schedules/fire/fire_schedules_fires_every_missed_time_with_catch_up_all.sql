-- 3 tests
-- catch_up all.
select qwf_test.set_now('2026-03-01 12:00:30+00');

select qwf.create_schedule('x', 't', cron => '*/5 * * * *', catch_up => 'all', overlap => 'allow');
select qwf_test.set_now('2026-03-01 12:21:00+00');
select is(_qwf.fire_schedules(), 4, 'every time');
select results_eq('select labels ->> ''due'' from qwf.jobs order by id',
  array['2026-03-01T12:05:00Z', '2026-03-01T12:10:00Z', '2026-03-01T12:15:00Z',
    '2026-03-01T12:20:00Z'], 'labelled with its time');
select is((select next_at from qwf.schedules), '2026-03-01 12:25:00+00', 'then continues as usual');
