-- 7 tests
select qwf_test.set_now('2026-03-31 12:00:00+00');
select qwf.create_schedule('etl', 't', cron => '0 3 * * *', args => '{"v": 1}');
select qwf.backfill('etl', '2026-03-01', '2026-03-04', 2);
select _qwf.fire_schedules();
select qwf.create_schedule('etl', 'other', cron => '0 4 * * *', args => '{"v": 2}');
select qwf_test.work('default');
select _qwf.fire_schedules();
select is((select string_agg(task || ' ' || (inputs ->> 'v'), ', ' order by id) from qwf.jobs),
  't 1, t 1, t 1', 'it keeps the definition that it began with');
select qwf.drop_schedule('etl');
select qwf_test.work('default');
select _qwf.fire_schedules();
select results_eq($$ select due_at, result from qwf.firings order by id $$,
  $$ values ('2026-03-01 03:00Z'::timestamptz, 'completed'), ('2026-03-02 03:00Z', 'completed'),
    ('2026-03-03 03:00Z', 'completed') $$, 'and records how its work ends');
select qwf.drop_schedule('etl.backfill.1');
select is((select count(*) from qwf.firing_details), 3::bigint, 'dropped, its firings stay');
select qwf_test.set_now('2026-03-31 13:00:00+00');
select qwf.create_schedule('etl', 't', cron => '0 3 * * *');
select results_eq($$ select verdict from qwf.due_times('etl', since => '2026-03-01',
  until => '2026-03-02') $$, $$ values ('fires') $$,
  'what an earlier schedule of the name did does not count');
select is(qwf.backfill('etl', '2026-03-01', '2026-03-03'), 'etl.backfill.2',
  'and its numbers are not given again');
select _qwf.fire_schedules();
select qwf.drop_schedule('etl.backfill.2');
select qwf_test.work('default');
select _qwf.fire_schedules();
select results_eq($$ select result from qwf.firings order by id desc limit 1 $$,
  $$ values ('completed') $$, 'one that is dropped with open firings leaves none open');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
