-- 3 tests
select qwf_test.workflow('w',
  '[{"id": "a", "on_failure": "ask"}, {"id": "b", "depends_on": ["a"]}]');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/a', 'error', error => 'no good');
select qwf.answer_job(qwf_test.job('s/a'), '"abort"');
select is(qwf_test.nodes(), 's/a failed, s/b cancelled', 'it failed for good');
select results_eq('select status::text, error from qwf.runs',
  $$ values ('failed', 's/a failed: no good') $$, 'with its error');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
