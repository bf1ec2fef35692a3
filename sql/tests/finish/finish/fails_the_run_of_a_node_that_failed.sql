-- 5 tests
select qwf_test.workflow('w', '[
  {"id": "a"}, {"id": "b"}, {"id": "c"}, {"id": "d", "depends_on": ["a"]}]');
select qwf.enqueue_run('w');
select qwf_test.claim('cpu', 2);
select qwf_test.report('s/a', 'error', error => E'no such photo\nTraceback');
select is(qwf_test.nodes(), 's/a failed, s/b running, s/c cancelled, s/d cancelled',
  'nodes that are not running are cancelled');
select results_eq('select status::text, error, finished_at is not null from qwf.runs', $$
  values ('failed', 's/a failed: no such photo', true) $$, 'the run says why');
select is_empty('select * from qwf.check_invariants()',
  'the database is healthy while a body is still running');
select qwf_test.report('s/b', 'cancelled');
select is(qwf_test.state('s/b'), 'cancelled', 'the running one was told to stop');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
