-- 9 tests
select qwf_test.set_now('2026-03-05 12:00:00+00');
select qwf.create_schedule('nightly', 't', cron => '0 3 * * *',
  args => '{"day": {"$from": "due.date"}}');
select qwf.fire_schedule('nightly', '2026-03-02 03:00Z');
select results_eq('select inputs, labels from qwf.jobs', $$ values ('{"day": "2026-03-02"}'::jsonb,
  '{"schedule": "nightly", "due": "2026-03-02T03:00:00Z"}'::jsonb) $$, 'for that night');
select throws_ok($$ select qwf.fire_schedule('nightly', '2026-03-02 03:00Z') $$, 'QW002',
  'the time is being worked on', 'not while it is being worked on');
select throws_ok($$ select qwf.fire_schedule('nightly', '2026-03-03 03:00Z') $$, 'QW002',
  'what the schedule enqueued last is not over', 'nor beside another');
select qwf_test.work('default');
select lives_ok($$ select qwf.fire_schedule('nightly', '2026-03-02 03:00Z') $$,
  'also one that has completed');
select qwf_test.work('default');
select throws_ok($$ select qwf.fire_schedule('nightly', '2026-03-02') $$, 'QW005',
  'the schedule has no such time', 'a time that is none is refused');
select throws_ok($$ select qwf.fire_schedule('nightly', '2026-03-06 03:00Z') $$, 'QW005',
  'the time lies ahead', 'one that lies ahead, too');
select qwf.fire_schedule('nightly');
select is((select inputs from qwf.jobs where id = qwf_test.job('t')), '{"day": "2026-03-05"}',
  'without a time it is the latest, if the args name due');
select results_eq('select due_at, outcome from qwf.firings order by id',
  $$ values ('2026-03-02 03:00Z'::timestamptz, 'fired'), ('2026-03-02 03:00Z', 'fired'),
    ('2026-03-05 03:00Z', 'fired') $$, 'each is in a row');
select is((select next_at from qwf.schedules), '2026-03-06 03:00Z', 'the next time stays');
