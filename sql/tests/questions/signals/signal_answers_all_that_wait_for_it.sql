-- 11 tests
-- One that comes before is kept, one wakes many, and steps of other names and projects wait on.
create function pg_temp.run(p_name text, p_project text default '') returns bigint
language sql as $$
  select qwf.enqueue_run('order', jsonb_build_object('id', p_name), project => p_project) $$;
create function pg_temp.states() returns text language sql as $$
  select string_agg(status::text, ', ' order by id) from qwf.runs $$;
select qwf.register_workflow('{"name": "order", "steps": [{"id": "paid", "kind": "input",
  "signal": ["paid", {"$from": "id"}], "target": "payment"}]}');
select pg_temp.run('1'), pg_temp.run('1'), pg_temp.run('2'), pg_temp.run('1', 'other');
select is((select min(last_error) from qwf.jobs), null, 'no error');
select results_eq('select signal, project, asks_person, refused from qwf.awaited_signals
  order by job_id', $$ values ('paid:1', '', false, false), ('paid:1', '', false, false),
  ('paid:2', '', false, false), ('paid:1', 'other', false, false) $$, 'they wait');
select is_empty('select * from qwf.pending_inputs', 'nobody is asked');
select is(qwf.signal('paid:1', '{"status": "ok"}'), 2, 'two complete at once');
select is(pg_temp.states(), 'completed, completed, awaiting_input, awaiting_input',
  'their runs go on');
select is((select output from qwf.jobs order by id limit 1), '{"payment": {"status": "ok"}}',
  'the payload is the answer');
select pg_temp.run('1');
select is(qwf_test.run_state(), 'completed', 'it is kept for one that asks later');
select is(qwf.signal('paid:1', '{"status": "again"}'), 0, 'it may come again');
select results_eq('select name, payload from qwf.kept_signals order by payload', $$
  values ('paid:1', jsonb '{"status": "again"}'), ('paid:1', '{"status": "ok"}') $$,
  'both are kept');
select pg_temp.run('1');
select is((select output -> 'payment' from qwf.jobs order by id desc limit 1),
  '{"status": "again"}', 'one that asks later gets the newest');
select is_empty('select * from qwf.check_invariants()', 'all is well');
