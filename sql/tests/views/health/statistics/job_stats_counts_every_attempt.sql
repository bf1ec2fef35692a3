-- 2 tests
-- However it ended, also where no body ever ran because its inputs could not be resolved.
select qwf_test.workflow('w', '[
  {"id": "a"}, {"id": "b", "depends_on": ["a"], "inputs": {"x": {"$from": "a.y"}}}]');
select qwf.enqueue('j', max_attempts => 3, backoff => '[0]', on_failure => 'ask');
select qwf_test.attempt('j', 'error'), qwf_test.attempt('j', 'tempfail');
select qwf_test.attempt('j', 'lost'), qwf_test.attempt('j', 'released');
select qwf_test.attempt('j', 'fatal');
select qwf.answer_job(qwf_test.job('j'), '"retry"');
select qwf_test.claim('default');
update qwf.jobs set lease_expires_at = qwf.now() - interval '1 s' where token is not null;
select count(*) from _qwf.reclaim();
select qwf_test.attempt('j');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/a');
select qwf_test.claim();
select qwf.enqueue_run('w');
select qwf_test.claim();
select qwf.cancel_run(qwf_test.run());
select qwf_test.report('s/a', 'cancelled');
select _qwf.roll_up_counts();
select bag_eq($$
  select s.task, s.outcome, s.count from qwf.job_stats s
$$, $$
  select j.task, a.outcome, count(*)
  from qwf.job_attempts a join qwf.jobs j on j.id = a.job_id
  group by j.task, a.outcome
$$, 'as many as there are in the history');
select is((select sum(count) from qwf.job_stats), 10::numeric, 'which are ten');
