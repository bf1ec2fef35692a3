-- 4 tests
select qwf_test.workflow('w', '[{"id": "a"}, {"id": "b"}, {"id": "c", "depends_on": ["a"]}]');
select qwf.enqueue_run('w');
select is(qwf.cancel_job(qwf_test.job('s/a'), 'wrong photo'), 'cancelled', 'a queued node');
select is(qwf_test.nodes(), 's/a cancelled, s/b cancelled, s/c cancelled', 'the run cannot go on');
select results_eq('select status::text, error from qwf.runs', $$
  values ('cancelled', 's/a was cancelled') $$,
  'and names the node');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
