-- 18 tests
-- Ninety nights, four at once, switched off and on in between; night 2 is done already, night 3 is
-- being worked on, and night 5 fails.
select qwf_test.set_now('2026-03-31 12:00:00+00');
select qwf.create_schedule('etl', 't', cron => '0 3 * * *', overlap => 'allow',
  args => '{"day": {"$from": "due.date"}}', options => '{"max_attempts": 1}');
select qwf.fire_schedule('etl', '2026-01-02 03:00Z');
select qwf_test.work('default');
select qwf.fire_schedule('etl', '2026-01-03 03:00Z');
select results_eq($$ select verdict, count(*) from qwf.due_times('etl', since => '2026-01-01',
  until => '2026-03-31 04:00Z') group by 1 order by 1 $$,
  $$ values ('completed', 1::bigint), ('fires', 88), ('open', 1) $$, 'the plan says what it does');
select is(qwf.backfill('etl', '2026-01-01', '2026-03-31 04:00Z', 4), 'etl.backfill.1',
  'it is a schedule');
select is(_qwf.fire_schedules(), 4, 'fires four');
select is(_qwf.fire_schedules(), 0, 'and no more while they are open');
select results_eq($$ select inputs ->> 'day' from qwf.jobs where schedule = 'etl.backfill.1'
  order by id $$, $$ values ('2026-01-01'), ('2026-01-04'), ('2026-01-05'), ('2026-01-06') $$,
  'the oldest first, without what is done or being worked on');
select results_eq($$ select labels, max_attempts from qwf.job_details
  where schedule = 'etl.backfill.1' order by id limit 1 $$,
  $$ values ('{"schedule": "etl.backfill.1", "backfill_of": "etl",
    "due": "2026-01-01T03:00:00Z"}'::jsonb, 1) $$, 'with the options of the schedule');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');

select is(qwf.enable_schedule('etl.backfill.1', false), null, 'switched off');
select qwf_test.work('default', 2);
select is(_qwf.fire_schedules(), 0, 'it fires nothing');
select is(qwf.enable_schedule('etl.backfill.1'), '2026-01-07 03:00Z', 'it goes on where it was');
select qwf.claim('default', 'w', 1);
select qwf.finish(id, token, 'fatal') from qwf.jobs where status = 'running';
create temp table ticks (n int, open bigint);
do $$
begin
  for n in 1..40 loop
    perform _qwf.fire_schedules();
    insert into ticks select n, o.open from qwf.schedule_overview o where o.backfill_of = 'etl';
    perform qwf_test.work('default', 3);
  end loop;
end $$;
select is((select max(open) from ticks), 4::bigint, 'never more than four are open');
select results_eq($$ select enabled, next_at, fired, skipped, failed from qwf.schedules
  where name = 'etl.backfill.1' $$,
  $$ values (false, null::timestamptz, 88::bigint, 2::bigint, 0::bigint) $$,
  'at its end it is off');
select results_eq($$ select planned, open, completed, ended_otherwise, ahead
  from qwf.schedule_overview where backfill_of = 'etl' $$,
  $$ values (90, 0::bigint, 87::bigint, 1::bigint, 0::bigint) $$, 'the overview says how far');
select results_eq($$ select count(*), count(distinct inputs ->> 'day') from qwf.jobs $$,
  $$ values (90::bigint, 90::bigint) $$, 'each night was worked on once');
select throws_ok($$ select qwf.enable_schedule('etl.backfill.1') $$, 'QW002',
  'the backfill has ended', 'it has no more to do');
select is(qwf.backfill('etl', '2026-01-01', '2026-03-31 04:00Z', 100), 'etl.backfill.2',
  'another one');
select is(_qwf.fire_schedules(), 1, 'fires for the night that failed, and for that alone');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
