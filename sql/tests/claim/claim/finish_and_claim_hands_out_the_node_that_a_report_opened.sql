-- 3 tests
select qwf_test.workflow('pair', '[{"id": "a"}, {"id": "b", "depends_on": ["a"],
  "inputs": {"x": {"$from": "a.x"}}}]');
select qwf.enqueue_run('pair');
select qwf_test.claim();
select results_eq($$
  select job_id, verdict, pending, node_id, inputs, token is not null
  from qwf.finish_and_claim(jsonb_build_array(jsonb_build_object('job_id', qwf_test.job('s/a'),
    'token', qwf_test.token('s/a'), 'outcome', 'completed', 'output', '{"x": 7}'::jsonb)),
    'cpu', 'w')
$$, $$
  values (qwf_test.job('s/a'), 'ok', false, null::text, null::jsonb, false),
    (qwf_test.job('s/b'), null, null, 's/b', '{"x": 7}', true)
$$, 'the verdict, then the node, with its inputs');
select is(qwf_test.nodes(), 's/a completed, s/b running', 'both are written');
select is_empty('select * from qwf.check_invariants()', 'and the database is healthy');
