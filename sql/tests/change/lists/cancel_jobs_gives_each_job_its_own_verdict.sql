-- 4 tests
select qwf_test.workflow('w', '[{"id": "a"}, {"id": "b", "depends_on": ["a"]}]');
select qwf.enqueue('done'), qwf.enqueue('running'), qwf.enqueue('waits'), qwf.enqueue_run('w');
select qwf_test.claim('default', 2);
select qwf_test.report('done');
select results_eq(format($$
  select job_id, verdict, code from qwf.cancel_jobs('{900000000000,%s,%s,%s,%s}', 'late')
  order by job_id $$, qwf_test.job('s/b'), qwf_test.job('waits'), qwf_test.job('running'),
    qwf_test.job('done')),
  format($$ values (%s::bigint, 'refused', 'QW002'), (%s, 'requested', null),
    (%s, 'cancelled', null), (%s, 'cancelled', null), (900000000000, 'refused', 'QW001') $$,
    qwf_test.job('done'), qwf_test.job('running'), qwf_test.job('waits'), qwf_test.job('s/b')),
  'one row each, and a refusal does not stop the others');
select is(qwf_test.state('waits'), 'cancelled', 'a waiting job is cancelled');
select is(qwf_test.run_state() || ' ' || qwf_test.nodes(),
  'cancelled s/a cancelled, s/b cancelled', 'a node takes its run with it');
select is((select reason from qwf.cancel_requests), 'late', 'the reason goes to the worker');
