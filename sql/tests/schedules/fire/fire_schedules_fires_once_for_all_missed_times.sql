-- 6 tests
-- catch_up one, the default: three nights passed while no tick came.
select qwf_test.set_now('2026-03-01 12:00:00+00');

select qwf.create_schedule('nightly', 't', cron => '0 3 * * *',
  args => '{"day": {"$from": "due.date"}}');
select qwf_test.set_now('2026-03-04 15:30:00+00');
select is(_qwf.fire_schedules(), 1, 'fires once for three nights');
select results_eq('select inputs, labels from qwf.jobs',
  $$ values ('{"day": "2026-03-04"}'::jsonb, '{"schedule": "nightly",
    "due": "2026-03-04T03:00:00Z", "missed": "2026-03-02T03:00:00Z"}'::jsonb) $$,
  'for the last of them, and says since when times were missed');
select results_eq(
  'select outcome, reason, since, due_at, times from qwf.firings order by id',
  $$ values ('skipped', 'missed', '2026-03-02 03:00+00'::timestamptz,
      '2026-03-03 03:00+00'::timestamptz, 2),
    ('fired', null, null, '2026-03-04 03:00+00', 1) $$, 'each night is in a row');
select results_eq('select next_at, skipped, fired from qwf.schedules',
  $$ values ('2026-03-05 03:00:00+00'::timestamptz, 2::bigint, 1::bigint) $$,
  'then it continues as usual');
select qwf_test.work('default');
select qwf_test.set_now('2026-03-05 03:00:00+00');
select _qwf.fire_schedules();
select is((select labels - 'schedule' from qwf.jobs where id = qwf_test.job('t')),
  '{"due": "2026-03-05T03:00:00Z"}', 'the next night misses nothing');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
