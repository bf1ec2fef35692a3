-- 4 tests
select qwf_test.set_now('2030-01-01');
select qwf.register_workflow('{"name": "w", "deadline": "1 h", "steps": [
  {"id": "ask", "kind": "input", "widget": "confirm"}]}');
select qwf.enqueue_run('w', '{"n": 1}', project => 'x', key => 'k', labels => '{"l": "m"}',
  out_dir => '/out', priority => 7);
update qwf.graphs set created_at = '2029-12-31';
select results_eq($$
  select workflow, version, graph_id, graph_at, status::text, project, key, once, priority, context,
    labels, out_dir, total, ending::text, error, created_at
  from qwf.run_details where id = qwf_test.run()
$$, $$
  select 'w', 1, g.id, '2029-12-31'::timestamptz, 'awaiting_input', 'x', 'k', false, 7,
    '{"n": 1}'::jsonb, '{"l": "m"}'::jsonb, '/out', 1, null, null, '2030-01-01'::timestamptz
  from qwf.graphs g
$$, 'what it was started with');
select qwf_test.travel('20 min');
select is((select deadline_in from qwf.run_details), interval '40 min', 'how long it still has');
select qwf.cancel_run(qwf_test.run(), 'enough');
select is((select deadline_in from qwf.run_details), null, 'nothing once it has ended');
select qwf.enqueue_run('w');
select is((select count(*)::int from qwf.run_details), 2, 'and one row each');
