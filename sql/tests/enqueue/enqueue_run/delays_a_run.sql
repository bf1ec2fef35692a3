-- 4 tests
select qwf_test.set_now('2030-01-01');
select qwf_test.workflow('pair', '[{"id": "a"}, {"id": "b", "depends_on": ["a"]}]');
select qwf.enqueue_run('pair', run_at => '2030-01-02');
select results_eq('select status::text, run_at from qwf.runs', $$
  values ('queued', '2030-01-02'::timestamptz) $$,
  'it waits');
select is(qwf_test.nodes(), 's/a scheduled, s/b blocked', 'with its first nodes');
select qwf.enqueue_run('pair', run_at => '2029-01-01');
select is(qwf_test.nodes(), 's/a queued, s/b blocked', 'a time that is past is now');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
