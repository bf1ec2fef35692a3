-- 3 tests
-- One of a thousand is in enqueue_run/completes_a_run_that_skips_everything: there it is quick.
select qwf_test.workflow('chain', (
  select jsonb_agg(jsonb_build_object('id', 'n' || n, 'node', 'n', 'depends_on',
    case n when 1 then '[]' else jsonb_build_array('n' || n - 1) end))
  from generate_series(1, 50) n));
select qwf.enqueue_run('chain');
select is((select sum(qwf_test.work())::int from generate_series(1, 51)), 50,
  'one after the other');
select is(qwf_test.run_state(), 'completed', 'to the end');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
