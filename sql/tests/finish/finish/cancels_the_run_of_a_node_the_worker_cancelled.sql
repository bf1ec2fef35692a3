-- 2 tests
select qwf_test.workflow('pair', '[{"id": "a"}, {"id": "b", "depends_on": ["a"]}]');
select qwf.enqueue_run('pair');
select qwf_test.attempt('s/a', 'cancelled');
select is(qwf_test.nodes(), 's/a cancelled, s/b cancelled', 'the run cannot go on');
select results_eq('select status::text, error from qwf.runs', $$
  values ('cancelled', 's/a was cancelled') $$,
  'and says why');
