-- 5 tests
select qwf_test.workflow('one', '[{"id": "a"}]');
select lives_ok($$ select qwf_test.as_role('qwf_producer', 'select qwf.enqueue(''mail'')') $$,
  'a job');
select lives_ok($$
  select qwf_test.as_role('qwf_producer', 'select qwf.enqueue_many(''[{"task": "post"}]'')')
$$, 'jobs');
select lives_ok($$ select qwf_test.as_role('qwf_producer', 'select qwf.enqueue_run(''one'')') $$,
  'a run');
select lives_ok(format($$
  select qwf_test.as_role('qwf_producer',
    'select qwf.cancel_run(%s), qwf.cancel_job(%s), qwf.result(%s), qwf.run_status(%s)')
$$, qwf_test.run(), qwf_test.job('mail'), qwf_test.job('mail'), qwf_test.run()),
  'and take them back, and look');
select is(qwf_test.run_state(), 'cancelled', 'with the rights of the engine');
