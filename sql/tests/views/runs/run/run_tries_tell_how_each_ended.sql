-- 2 tests
select qwf_test.set_now('2030-01-01');
select qwf_test.workflow('w', '[{"id": "a"}]');
select qwf.enqueue_run('w');
select qwf_test.claim(), qwf_test.travel('90.5 s');
select qwf_test.report('s/a', 'fatal', error => 'boom');
select qwf.retry_run(qwf_test.run()), qwf_test.travel('3 h');
select qwf_test.claim(), qwf_test.travel('2 s'), qwf_test.report('s/a');
select results_eq($$ select try, status, started_at, finished_at, seconds, node_id, error
    from qwf.run_tries where run_id = qwf_test.run() order by try $$, $$ values
  (1::bigint, 'failed', '2030-01-01 00:00'::timestamptz, '2030-01-01 00:01:30.5'::timestamptz,
    90.5::float8, 's/a', 's/a failed: boom'),
  (2, 'completed', '2030-01-01 03:01:30.5', '2030-01-01 03:01:32.5', 2, null, null) $$,
  'with its own start and error');
insert into _qwf.event_log (run_id, kind, detail)
select n, 'run_ended', '{}' from generate_series(1000000, 1003000) n;
analyze _qwf.event_log;
select unalike(qwf_test.plan_of('select * from qwf.run_tries where run_id = 1'),
  '%Seq Scan on event_log%', 'an index answers');
