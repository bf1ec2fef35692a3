-- 6 tests
select qwf_test.set_now('2030-01-01');
select qwf_test.workflow('p', '[{"id": "a"}, {"id": "b"}, {"id": "c", "depends_on": ["a"]},
  {"id": "d", "retry": {"max_attempts": 2}}]');
select qwf.register_workflow('{"name": "w", "steps": [
  {"id": "s", "kind": "pipeline", "pipeline": "p"}, {"id": "ask", "kind": "input",
    "widget": "confirm"}]}');
select qwf.enqueue_run('w');
select qwf_test.claim('cpu', 3);
select qwf_test.report('s/a'), qwf_test.report('s/d', 'error'), qwf_test.claim('cpu', 1);
select qwf_test.report('s/c', 'released');
select results_eq($$ select node_id, status::text from qwf.jobs order by node_id collate "C" $$, $$
  values ('ask', 'awaiting_input'), ('s/a', 'completed'), ('s/b', 'running'), ('s/c', 'queued'),
    ('s/d', 'scheduled')
$$, 'a run in the middle');
select ok(qwf.cancel_run(qwf_test.run(), 'wrong photo'), 'cancelled');
select results_eq($$ select node_id, status::text from qwf.jobs order by node_id collate "C" $$, $$
  values ('ask', 'cancelled'), ('s/a', 'completed'), ('s/b', 'running'), ('s/c', 'cancelled'),
    ('s/d', 'cancelled')
$$, 'at once; what ended stays, what runs is told');
select results_eq('select status::text, error, finished_at from qwf.runs', $$
  select 'cancelled', 'cancelled by ' || session_user::text collate "default" || ': wrong photo',
    '2030-01-01'::timestamptz
$$, 'the run says who and why');
select is_empty('select * from qwf.pending_inputs', 'nobody is asked any more');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
