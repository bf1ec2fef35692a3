-- 5 tests
select qwf_test.set_now('2026-01-01 12:00+00');
select qwf.enqueue('t' || g, queue => 'cpu', max_attempts => 1) from generate_series(1, 4) g;
select qwf_test.travel('1 min'), qwf_test.attempt('t' || g, 'error') from generate_series(1, 3) g;
select results_eq(
  $$ select task, searched, searched_to from qwf.failure_groups(max_rows => 2) $$,
  $$ values ('t3', 2, '2026-01-01 12:02+00'::timestamptz), ('t2', 2, '2026-01-01 12:02+00') $$,
  'no more than it may, and says how far that goes');
select results_eq($$ select task from qwf.failure_groups('2026-01-01 12:02+00') $$,
  $$ values ('t3'), ('t2') $$, 'since a time');
select qwf.retry_job(qwf_test.job('t3'));
select results_eq($$ select task from qwf.failure_groups() $$, $$ values ('t2'), ('t1') $$,
  'what was retried has not failed');
select throws_ok($$ select * from qwf.failure_groups(max_rows => 0) $$, 'QW005', 'invalid bound',
  'the number of rows is bounded');
select throws_ok($$ select * from qwf.failure_groups('20000-01-01') $$, 'QW005', 'invalid bound',
  'the time can be read');
