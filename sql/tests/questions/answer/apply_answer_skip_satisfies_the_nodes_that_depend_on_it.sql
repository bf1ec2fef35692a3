-- 3 tests
select qwf_test.workflow('w',
  '[{"id": "a", "on_failure": "ask"}, {"id": "b", "depends_on": ["a"]}]');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/a', 'error');
select qwf.submit_input(qwf_test.run(), 's/a', '"skip"', 'ada');
select is(qwf_test.nodes(), 's/a skipped, s/b queued', 'the dependent node is queued');
select results_eq('select value, acting_for from qwf.input_answers',
  $$ values ('"skip"'::jsonb, 'ada') $$, 'the answer records who decided');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
