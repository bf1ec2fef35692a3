-- 2 tests
select qwf_test.workflow('w', '[{"id": "a", "queue": "cpu"}]');
select qwf.enqueue_run('w');
select qwf.register_worker('box', 'cpu');
select qwf.claim('cpu', (select w.id from qwf.workers w));
select qwf_test.report('s/a', 'tempfail', error => 'busy', detail => '{"exit_code": 75}');
select results_eq($$
  select job_id, attempt, node_id, task, host, outcome, error, exit_code
  from qwf.attempt_overview where run_id = qwf_test.run()
$$, $$
  values (qwf_test.job('s/a'), 1, 's/a', 'a', 'box', 'tempfail', 'busy', 75)
$$, 'an attempt at a node, found by its run');
select qwf.enqueue('b', queue => 'cpu');
select qwf.claim('cpu', 'gone:7');
select qwf_test.report('b');
select results_eq($$
  select run_id, node_id, task, worker, host from qwf.attempt_overview
  where job_id = qwf_test.job('b')
$$, $$ values (null::bigint, null, 'b', 'gone:7', 'gone') $$,
  'a standalone job, and a worker whose row is gone');
