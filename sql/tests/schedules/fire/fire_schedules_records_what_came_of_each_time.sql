-- 8 tests
select qwf_test.set_now('2026-03-01 12:00:30+00');
select qwf.create_schedule('x', 't', cron => '*/5 * * * *');
select qwf_test.set_now('2026-03-01 12:05:00+00');
select _qwf.fire_schedules();
select qwf_test.set_now(('2026-03-01 12:05:00+00'::timestamptz + n * interval '5 min')),
  _qwf.fire_schedules() from generate_series(1, 3) n;
select results_eq(
  'select due_at, since, times, outcome, reason, result from qwf.firings order by id',
  $$ values ('2026-03-01 12:05Z'::timestamptz, null::timestamptz, 1, 'fired', null, null),
    ('2026-03-01 12:20Z', '2026-03-01 12:10Z', 3, 'skipped', 'overlap', null) $$,
  'times that were left out for the same reason share a row');
select qwf_test.claim('default');
select qwf_test.report('t', 'fatal', error => 'no disk');
select results_eq('select result, status from qwf.firing_details where outcome = ''fired''',
  $$ values ('failed', 'failed') $$, 'the view knows the end at once');
select _qwf.close_firings();
select results_eq('select result, ended_at from qwf.firings where outcome = ''fired''',
  $$ values ('failed', '2026-03-01 12:20Z'::timestamptz) $$, 'a tick writes it');
select qwf.retry_job(qwf_test.job('t'));
select results_eq('select result, reopened from qwf.firings where outcome = ''fired''',
  $$ values (null, true) $$, 'a retry opens the firing again');
select qwf_test.work('default');
select _qwf.close_firings();
select results_eq('select result from qwf.firings where outcome = ''fired''',
  $$ values ('completed') $$, 'which then completes');
select is((select last_success_at from qwf.schedule_overview), '2026-03-01 12:20Z',
  'the overview says when');
update qwf.schedules set task = repeat('t', 201);
select qwf_test.set_now(('2026-03-01 12:25:00+00'::timestamptz + n * interval '5 min')),
  _qwf.fire_schedules() from generate_series(0, 1) n;
select results_eq($$ select due_at, times, error like 'QW005: invalid job: %task: 1 to 200%'
  from qwf.firings where outcome = 'failed' $$,
  $$ values ('2026-03-01 12:30Z'::timestamptz, 2, true) $$, 'why enqueuing was refused');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
