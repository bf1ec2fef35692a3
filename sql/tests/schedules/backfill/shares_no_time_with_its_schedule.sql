-- 4 tests
-- The tick was away: the last night is due for the schedule, and is in the backfill.
select qwf_test.set_now('2026-03-02 12:00:00+00');
select qwf.create_schedule('etl', 't', cron => '0 3 * * *', overlap => 'allow',
  args => '{"day": {"$from": "due.date"}}');
select qwf_test.set_now('2026-03-04 12:00:00+00');
select qwf.backfill('etl', '2026-03-01', '2026-03-04 12:00Z', 10);
select is(_qwf.fire_schedules(), 4, 'each night once');
select is((select string_agg(inputs ->> 'day', ' ' order by inputs ->> 'day') from qwf.jobs),
  '2026-03-01 2026-03-02 2026-03-03 2026-03-04', 'whoever fires it');
select results_eq($$ select schedule, due_at::date, reason from qwf.firings
  where outcome = 'skipped' order by id $$,
  $$ values ('etl', '2026-03-03'::date, 'missed'), ('etl', '2026-03-04', 'open') $$,
  'the other one says why it did not');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
