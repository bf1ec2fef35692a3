-- 2 tests
select qwf_test.workflow('one', '[{"id": "a"}]');
select qwf.enqueue('mail', queue => 'cpu'), qwf.enqueue_run('one');
select qwf_test.attempt('mail', 'fatal', error => 'boom');
select qwf_test.attempt('s/a', 'fatal', error => 'boom');
select qwf_test.as_role('qwf_producer', format('select qwf.retry_job(%s)', qwf_test.job('mail')));
select qwf_test.as_role('qwf_producer', format('select qwf.retry_run(%s)', qwf_test.run()));
select results_eq($$
  select run_id, job_id, login, detail from _qwf.event_log where kind = 'retried' order by id
$$, format($$ values (null::bigint, %s::bigint, qwf_test.login(), '{}'::jsonb),
    (%s, null, qwf_test.login(), '{"nodes": 1}') $$, qwf_test.job('mail'), qwf_test.run()),
  'a job, and a run');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
