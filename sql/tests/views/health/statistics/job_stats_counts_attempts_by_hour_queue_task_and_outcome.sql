-- 2 tests
select qwf_test.set_now('2030-01-01 10:59');
select qwf.enqueue('mail'), qwf.enqueue('mail'), qwf.enqueue('mail');
select qwf.enqueue('draw', queue => 'gpu');
select qwf_test.claim('default', 2), qwf_test.claim('gpu');
select qwf_test.travel('2.5 s');
select qwf_test.report('draw', 'fatal', error => 'boom');
select count(qwf.finish(id, token, 'completed')) from qwf.jobs
where task = 'mail' and status = 'running';
select qwf_test.travel('1 min');
select qwf_test.work();
select qwf_test.work('default');
select _qwf.roll_up_counts();
select results_eq($$
  select hour, queue, task, outcome, count, wait_avg, wait_max, run_avg, run_max
  from qwf.job_stats
$$, $$
  values
    ('2030-01-01 11:00'::timestamptz, 'default', 'mail', 'completed', 1::bigint,
      62.500, 62.500, 0.000, 0.000),
    ('2030-01-01 10:00', 'default', 'mail', 'completed', 2, 0.000, 0.000, 2.500, 2.500),
    ('2030-01-01 10:00', 'gpu', 'draw', 'fatal', 1, 0.000, 0.000, 2.500, 2.500)
$$, 'the newest hour first');
select is_empty('select * from qwf.attempt_counts', 'nothing is left to fold');
