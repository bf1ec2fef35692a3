-- 5 tests
select qwf_test.set_now('2026-01-01 12:00Z');
select qwf.enqueue('mail', key => 'k', run_at => '2026-01-02 12:00Z', expires => '1 h');
select qwf.enqueue('mail', key => 'k', run_at => '2026-01-01 18:00Z', expires => '3 days');
select results_eq('select status::text, run_at, expires_at from qwf.jobs', $$
  values ('scheduled', '2026-01-01 18:00Z'::timestamptz, '2026-01-04 18:00Z'::timestamptz) $$,
  'the earlier start, the later expiry');
select qwf.enqueue('mail', key => 'k', run_at => '2026-01-03 18:00Z', expires => '1 min');
select results_eq('select status::text, run_at, expires_at from qwf.jobs', $$
  values ('scheduled', '2026-01-01 18:00Z'::timestamptz, '2026-01-04 18:00Z'::timestamptz) $$,
  'a later call with less patience changes nothing');
select qwf.enqueue('mail', key => 'k');
select results_eq('select status::text, run_at, expires_at from qwf.jobs', $$
  values ('queued', null::timestamptz, null::timestamptz) $$, 'now, and without an end');
select is((select c.attempt from qwf.claim('default', 'w') c), 1, 'it can start');
select is((select count(*) from qwf.jobs), 1::bigint, 'all of them are one job');
