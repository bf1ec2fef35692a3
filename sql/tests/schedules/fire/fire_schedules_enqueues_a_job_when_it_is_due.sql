-- 6 tests
select qwf_test.set_now('2026-03-01 12:00:30+00');

select qwf.create_schedule('nightly', 'clean', cron => '0 13 * * *', args => '{"n": 1}',
  queue => 'cpu', priority => 7, project => 'p');
select is(_qwf.fire_schedules(), 0, 'not before');
select qwf_test.set_now('2026-03-01 13:00:00+00');
select is(_qwf.fire_schedules(), 1, 'at the minute');
select results_eq(
  'select task, inputs, queue, priority, project, schedule, labels, status from qwf.jobs',
  $$ values ('clean', '{"n": 1}'::jsonb, 'cpu', 7, 'p', 'nightly',
    '{"schedule": "nightly", "due": "2026-03-01T13:00:00Z"}'::jsonb,
    'queued'::qwf.job_status) $$, 'with its arguments, and what made it');
select results_eq(
  'select next_at, last_due_at, last_fired_at, last_job_id, fired from qwf.schedules',
  $$ values ('2026-03-02 13:00:00+00'::timestamptz, '2026-03-01 13:00:00+00'::timestamptz,
    '2026-03-01 13:00:00+00'::timestamptz, qwf_test.job('clean'), 1::bigint) $$,
  'it is due again tomorrow');
select is(_qwf.fire_schedules(), 0, 'not before');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
