-- 9 tests
select qwf_test.set_now('2026-03-31 12:00:00+00');
select qwf.create_schedule('etl', 't', cron => '0 3 * * *');
select qwf.create_schedule('often', 't', every => '1 min');
select throws_ok($$ select qwf.backfill('elt', '2026-01-01', '2026-02-01') $$, 'QW001', null,
  'an unknown schedule');
select qwf_test.explains($$ select qwf.backfill('etl', '2026-02-01', '2026-01-01', 0) $$,
  E'at_once: must be within 1 to 10,000\nsince: must be before until', 'all problems at once');
select qwf_test.explains($$ select qwf.backfill('etl', '2026-02-01', '2026-05-01') $$,
  'until: lies ahead', 'times to come');
select throws_ok($$ select qwf.backfill('etl', '2026-02-01 04:00Z', '2026-02-02 03:00Z') $$,
  'QW005', 'no time of the schedule lies between', 'no time');
select throws_ok($$ select qwf.backfill('often', '2026-01-01', '2026-03-01') $$,
  'QW005', 'more than 10,000 times', 'too many');
select is(qwf.backfill('often', '2026-03-30', '2026-03-30 00:03'), 'often.backfill.1',
  'times before the anchor of an interval');
select results_eq($$ select due_at from qwf.due_times('often.backfill.1', 10) $$,
  $$ select due_at from qwf.due_times('often', since => '2026-03-30',
    until => '2026-03-30 00:03') $$,
  'are those of the plan');
select throws_ok($$ select qwf.backfill('often.backfill.1', '2026-01-01', '2026-01-02') $$, 'QW005',
  null, 'a backfill of a backfill');
select throws_ok($$ select qwf.fire_schedule('often.backfill.1') $$, 'QW005',
  'a backfill fires by itself', 'firing it by hand');
