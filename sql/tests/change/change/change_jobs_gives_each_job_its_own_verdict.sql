-- 3 tests
select qwf_test.workflow('w', '[{"id": "a"}, {"id": "b", "depends_on": ["a"]}]');
select qwf.enqueue('running'), qwf.enqueue('waits'), qwf.enqueue('later', run_at => '2100-01-01');
select qwf.enqueue_run('w');
select qwf_test.claim('default');
select results_eq(format($$
  select job_id, verdict, code, message, detail from qwf.change_jobs(
    '{900000000000,%s,%s,%s,%s,%s,%s}', queue => 'gpu')
  order by job_id $$, qwf_test.job('s/b'), qwf_test.job('s/a'), qwf_test.job('waits'),
    qwf_test.job('later'), qwf_test.job('running'), qwf_test.job('waits')),
  format($$ values
    (%1$s::bigint, 'refused', 'QW002', 'the job is not waiting in a queue', 'job %1$s is running'),
    (%2$s, 'changed', null, null, null), (%3$s, 'changed', null, null, null),
    (%4$s, 'changed', null, null, null),
    (%5$s, 'refused', 'QW002', 'the job is not waiting in a queue', 'job %5$s is blocked'),
    (900000000000, 'refused', 'QW001', 'no such job', 'job 900000000000') $$,
    qwf_test.job('running'), qwf_test.job('waits'), qwf_test.job('later'), qwf_test.job('s/a'),
    qwf_test.job('s/b')),
  'one row each, and a refusal does not stop the others');
select results_eq('select coalesce(node_id, task), queue, status::text from qwf.jobs order by id',
  $$ values ('running', 'default', 'running'), ('waits', 'gpu', 'queued'),
    ('later', 'gpu', 'scheduled'), ('s/a', 'gpu', 'queued'), ('s/b', 'cpu', 'blocked') $$,
  'what waits is changed, the rest is not');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
