-- 9 tests
-- overlap replace: cancels the last one, and fires when it has ended.
select qwf_test.set_now('2026-03-01 12:00:30+00');
select qwf.create_schedule('x', 't', cron => '*/5 * * * *', overlap => 'replace');
select qwf_test.set_now('2026-03-01 12:05:00+00');
select is(_qwf.fire_schedules(), 1, 'the first');
select qwf_test.set_now('2026-03-01 12:10:00+00');
select is(_qwf.fire_schedules(), 1, 'while its job is queued, the second replaces it');
select results_eq('select status::text, last_error from qwf.jobs order by id',
  $$ values ('cancelled', 'replaced by schedule x'), ('queued', null) $$, 'at once');
select qwf_test.claim('default');
select qwf_test.set_now('2026-03-01 12:15:00+00');
select is(_qwf.fire_schedules(), 0, 'a body has to stop first');
select is((select reason from qwf.cancel_requests), 'replaced by schedule x', 'it is asked to');
select is(_qwf.fire_schedules(), 0, 'the schedule stays due');
select qwf_test.report('t', 'cancelled');
select is(_qwf.fire_schedules(), 1, 'and fires when the body has stopped');
select results_eq('select due_at, outcome, result from qwf.firings order by id',
  $$ values ('2026-03-01 12:05Z'::timestamptz, 'fired', 'cancelled'),
    ('2026-03-01 12:10Z', 'fired', 'cancelled'), ('2026-03-01 12:15Z', 'fired', null) $$,
  'every time has its row');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
