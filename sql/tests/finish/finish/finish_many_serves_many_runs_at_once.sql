-- 3 tests
select qwf_test.workflow('chain', '[
  {"id": "a"}, {"id": "b", "depends_on": ["a"]}, {"id": "c", "depends_on": ["b"]}]');
select count(qwf.enqueue_run('chain')) from generate_series(1, 50);
select results_eq('select qwf_test.work() from generate_series(1, 4)', array[50, 50, 50, 0],
  'wave by wave');
select results_eq('select status::text, count(*) from qwf.runs group by 1', $$
  values ('completed', 50::bigint) $$,
  'all completed');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
