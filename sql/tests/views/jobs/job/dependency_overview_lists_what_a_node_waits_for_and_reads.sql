-- 2 tests
select qwf_test.workflow('w', '[{"id": "a", "queue": "cpu"}, {"id": "b", "queue": "cpu"},
  {"id": "m", "queue": "cpu", "depends_on": ["b"]},
  {"id": "c", "queue": "cpu", "depends_on": ["a", "m"], "inputs": {"x": {"$from": "b.x"}}}]');
select qwf.enqueue_run('w');
select qwf_test.claim();
select qwf_test.report('s/a');
select results_eq($$
  select needs_job_id, node_id, status::text, waits, reads from qwf.dependency_overview
  where job_id = qwf_test.job('s/c') order by needs_job_id
$$, $$
  values (qwf_test.job('s/a'), 's/a', 'completed', true, false),
    (qwf_test.job('s/b'), 's/b', 'queued', false, true),
    (qwf_test.job('s/m'), 's/m', 'blocked', true, false)
$$, 'each node, its state, whether it is waited for, and whether its output is read');
select is_empty($$
  select from qwf.dependency_overview where job_id = qwf_test.job('s/a')
$$, 'a first node depends on nothing');
