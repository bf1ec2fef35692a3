-- 7 tests
create function pg_temp.register(p_until int, p_max int) returns void language sql as $$
  select qwf.register_workflow(jsonb_build_object('name', 'w', 'steps', jsonb_build_array(
    jsonb_build_object('id', 'm', 'node', 'm', 'inputs', '{"i": {"$from": "index"}}'::jsonb,
      'repeat', jsonb_build_object('max', p_max, 'until', jsonb_build_object(
        '$from', 'item.i', '$eq', p_until))))))
$$;
select pg_temp.register(9, 2);
select qwf.enqueue_run('w');
select qwf_test.work() from generate_series(1, 3);
select is((select error from qwf.runs), 'm failed: not done after 2 turns', 'two are too few');
select results_eq('select verdict, because from qwf.retry_plan(qwf_test.run())',
  $$ values ('runs again', 'it failed') $$, 'with the same max it starts again');
select pg_temp.register(9, 4);
select results_eq('select verdict, because from qwf.retry_plan(qwf_test.run(), latest => true)',
  $$ values ('runs again', 'it failed; elements reused: 2 of 2') $$,
  'with a higher one it goes on');
select qwf.retry_run(qwf_test.run(), latest => true);
select is(qwf_test.nodes(), 'm blocked, m[0] completed, m[1] completed, m[2] queued',
  'with the third turn');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
select qwf_test.work() from generate_series(1, 3);
select results_eq($$ select because from qwf.retry_plan(qwf_test.run(), 'm[1]')
    where verdict = 'runs again' $$,
  $$ values ('its element m[1] was named; elements reused: 1 of 4') $$,
  'the turns after a named one are deleted');
select pg_temp.register(3, 8);
select results_eq('select verdict, because from qwf.retry_plan(qwf_test.run(), latest => true)',
  $$ values ('runs again', 'its definition changed') $$, 'with another end it starts again');
