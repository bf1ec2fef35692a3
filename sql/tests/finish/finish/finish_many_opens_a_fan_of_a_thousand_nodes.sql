-- 3 tests
select qwf_test.workflow('fan', (
  select jsonb_build_array('{"id": "split"}'::jsonb)
    || jsonb_agg(jsonb_build_object('id', 'n' || n, 'node', 'n', 'depends_on', '["split"]'::jsonb))
    || jsonb_build_array(jsonb_build_object('id', 'join', 'depends_on', jsonb_agg('n' || n)))
  from generate_series(1, 1000) n));
select qwf.enqueue_run('fan');
select results_eq('select qwf_test.work() from generate_series(1, 4)', array[1, 1000, 1, 0],
  'out and in again');
select is(qwf_test.run_state(), 'completed', 'to the end');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
