-- 6 tests
select qwf_test.set_now('2026-03-01 12:00:30+00');

select qwf.create_schedule('a', 't', cron => '*/5 * * * *', queue => 'cpu', overlap => 'allow');
select qwf.create_schedule('b', 'u', cron => '*/5 * * * *');
alter table qwf.jobs add constraint jammed check (task <> 't');
select qwf_test.set_now('2026-03-01 12:05:00+00');
select is(_qwf.fire_schedules(), 1, 'the other schedule fires');
select is(qwf_test.state('u'), 'queued', 'its job is queued');
select results_eq(
  $$ select next_at, failed, fired, last_error ~ '^23514: .*jammed' from qwf.schedules
     where name = 'a' $$,
  $$ values ('2026-03-01 12:10:00+00'::timestamptz, 1::bigint, 0::bigint, true) $$,
  'the reason is kept; the schedule waits for its next time');
select is(_qwf.fire_schedules(), 0, 'it does not fire at once');
alter table qwf.jobs drop constraint jammed;
select qwf_test.set_now('2026-03-01 12:10:00+00');
select _qwf.fire_schedules();
select results_eq($$ select failed, fired, last_error from qwf.schedules where name = 'a' $$,
  $$ values (1::bigint, 1::bigint, null::text) $$, 'the next time succeeds');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
