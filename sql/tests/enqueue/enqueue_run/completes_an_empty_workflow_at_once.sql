-- 2 tests
select qwf_test.set_now('2030-01-01');
select qwf.register_workflow('{"name": "empty", "steps": []}');
select qwf.enqueue_run('empty');
select results_eq('select status::text, started_at, finished_at from qwf.runs', $$
  values ('completed', '2030-01-01'::timestamptz, '2030-01-01'::timestamptz) $$,
    'there is nothing to do');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
