-- 4 tests
-- Every time of two years is the latest one until the next, for crons that are rare, frequent and
-- clustered, in zones whose clocks change.
create temp table tried as
with recursive schedule as (
  select jsonb_populate_record(null::qwf.schedules, jsonb_build_object('cron', c, 'timezone', z)) s
  from unnest(array['30 3 * * *', '*/7 2 * * 0', '0 0 29 2 *', '* 3 1 1 *', '15 */5 * * MON-FRI',
    '30 2 * * *', '0 * * * 6']) c
  cross join unnest(array['UTC', 'Europe/Berlin', 'Australia/Lord_Howe']) z
), walk as (
  select s.s, _qwf.next_fire(s.s, '2023-12-30') as t, null::timestamptz as before, 1 as n
  from schedule s
  union all
  select w.s, _qwf.next_fire(w.s, w.t), w.t, w.n + 1 from walk w
  where w.n < 50
)
select * from walk;
select is((select count(*) from tried), 1050::bigint, 'there are times');
select is_empty($$ select (s).cron, (s).timezone, before, t from tried
  where _qwf.latest_fire(s, t) <> t
    or _qwf.latest_fire(s, t - interval '1 us') is distinct from before and before is not null $$,
  'the latest time before each is the one before it');
select is(_qwf.latest_fire(jsonb_populate_record(null::qwf.schedules,
    '{"every": "37 min", "anchor": "2026-01-01T00:00Z", "timezone": "UTC"}'), '2025-12-31 23:59Z'),
  '2025-12-31 23:23Z', 'the grid of an interval goes back before its anchor');
set local timezone = 'Europe/Berlin';
select results_eq($$ select _qwf.times_from(s.s, '2026-03-28 12:00Z', '2026-03-31', 10)
  from (select jsonb_populate_record(null::qwf.schedules,
    '{"every": "1 day", "anchor": "2026-03-01T12:00Z"}')) s (s) $$,
  $$ values ('2026-03-28 12:00Z'::timestamptz), ('2026-03-29 12:00Z'), ('2026-03-30 12:00Z') $$,
  'a day of an interval has 24 hours, whatever the zone of the session');
