-- 5 tests
select qwf_test.set_now('2030-01-01');
select qwf_test.workflow('w', '[{"id": "a"}]');
select qwf.enqueue_run('w');
select is((select seconds from qwf.run_details), null, 'none before it starts');
select qwf_test.claim(), qwf_test.travel('90.5 s');
select qwf_test.report('s/a', 'fatal', error => 'boom');
select qwf_test.travel('1 h');
select results_eq('select seconds, retried_at from qwf.run_details',
  'values (90.5::float8, null::timestamptz)', 'from its start to its end');
select qwf.retry_run(qwf_test.run());
select qwf_test.travel('3 h');
select results_eq('select status::text, seconds, retried_at from qwf.run_details',
  $$ values ('queued', null::float8, qwf.now() - interval '3 h') $$,
  'what the retry waits does not count');
select qwf_test.claim(), qwf_test.travel('5 s');
select is((select seconds from qwf.run_details), 5::float8, 'from the start of its last try');
select qwf_test.report('s/a');
select qwf_test.travel('1 h');
select is((select seconds from qwf.run_details), 5::float8, 'and to its end');
