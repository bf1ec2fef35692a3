-- 6 tests
create function pg_temp.run(p_more jsonb) returns void language plpgsql as $$
begin
  perform qwf.register_workflow(jsonb_build_object('name', 'w', 'steps', jsonb_build_array(
    '{"id": "paid", "kind": "input", "signal": "paid", "expires": "2 days"}'::jsonb || p_more)));
  perform qwf.enqueue_run('w');
  create temp table if not exists said as select message from qwf.run_nodes;
  perform qwf_test.travel('3 days'), qwf.tick();
end $$;
select pg_temp.run('{"default": {"status": "late"}}');
select is((select output from qwf.jobs), '{"value": {"status": "late"}}', 'its default');
select is((select message from said), 'waits for signal paid', 'the run says what it waits for');
select is((select message from qwf.run_nodes), 'no signal in time, its default was taken',
  'the run says so');
select pg_temp.run('{}');
select is((select last_error from qwf.jobs order by id desc limit 1),
  'no signal paid within 2 days', 'without a default it fails');
select is(qwf_test.run_state(), 'failed', 'and so does its run');
select is_empty('select * from qwf.waits', 'nothing waits any more');
