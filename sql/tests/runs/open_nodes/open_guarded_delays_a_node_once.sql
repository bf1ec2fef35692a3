-- 20 tests
select qwf_test.set_now('2026-11-26 12:00Z');
select qwf_test.workflow('w', '[{"id": "a"}, {"id": "b", "depends_on": ["a"], "delay": "10 min"},
  {"id": "skipped", "depends_on": ["a"], "delay": "10 min", "skip_if": true},
  {"id": "m", "depends_on": ["a"], "delay": {"$from": "a.wait"}, "map": [1, 2]}]');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/a', 'completed', '{"wait": "2026-11-26T12:05:00Z"}');
select is(qwf_test.nodes(), 's/a completed, s/b scheduled, s/skipped skipped, s/m scheduled',
  'what has a delay waits; what is skipped does not');
select results_eq($$ select node_id, run_at - qwf.now() from qwf.jobs
  where status = 'scheduled' order by node_idx $$,
  $$ values ('s/b', interval '10 min'), ('s/m', interval '5 min') $$,
  'a duration, or a time that an expression gives');
select is(qwf.why_not(qwf_test.job('s/b')), format('it waits for %s, in 00:10:00, which is its '
  'delay', '2026-11-26 12:10Z'::timestamptz), 'why says it');
select results_eq('select status::text, open_nodes, active_nodes from qwf.runs',
  $$ values ('running', 2, 2) $$, 'they are counted as active');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
select qwf_test.travel('5 min');
select _qwf.promote_due();
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
select qwf.drain_outbox();
select is(qwf_test.state('s/m[1]'), 'queued', 'a map is spread when its time has come');
select qwf_test.travel('5 min');
select _qwf.promote_due(), qwf.drain_outbox();
select is(qwf_test.state('s/b'), 'queued', 'it waits once');
select is(qwf_test.work(), 3, 'they run');
select is(qwf_test.run_state(), 'completed', 'and the run completes');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');

-- a retry waits again; cancelled while it waits
select qwf.retry_run(qwf_test.run(), 's/b');
select is(qwf_test.state('s/b'), 'scheduled', 'a node that runs again waits again');
select qwf.cancel_run(qwf_test.run());
select is(qwf_test.state('s/b'), 'cancelled', 'a cancel does not wait for it');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
select qwf.retry_run(qwf_test.run());
select qwf_test.attempt('s/b');
select is(qwf_test.run_state(), 'completed', 'tried before, it is queued when it is due');

-- the first node of a run that starts later; a step, an input, a pipeline with delays of its own
select qwf.register_pipeline('{"name": "p", "nodes": [{"id": "n", "delay": "1 min"},
  {"id": "o", "depends_on": ["n"]}]}');
select qwf.register_workflow('{"name": "v", "steps": [
  {"id": "x", "kind": "pipeline", "pipeline": "p", "delay": 60},
  {"id": "q", "kind": "input", "widget": "confirm", "target": "ok", "delay": {"$from": "wait"}},
  {"id": "t", "node": "t", "delay": {"$from": "none", "$default": null}}]}');
select qwf.enqueue_run('v', '{"wait": "3 min"}', run_at => qwf.now() + interval '1 hour');
select qwf_test.travel('1 hour');
select _qwf.promote_due(), qwf.drain_outbox();
select results_eq($$ select node_id, status::text, run_at - qwf.now() from qwf.jobs
  where run_id = qwf_test.run() order by node_idx $$, $$ values
  ('x/n', 'scheduled', interval '2 min'), ('x/o', 'blocked', null),
  ('q', 'scheduled', interval '3 min'), ('t', 'queued', interval '0') $$,
  'they wait from the start of the run; delays of step and node are added; null is none');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
select qwf_test.travel('3 min');
select _qwf.promote_due(), qwf.drain_outbox();
select is(qwf_test.state('q'), 'awaiting_input', 'the question is asked after its delay');

-- what is no delay
select qwf_test.workflow('u', '[{"id": "a"}, {"id": "b", "depends_on": ["a"],
  "delay": {"$from": "a.x"}}]');
select qwf.enqueue_run('u');
select qwf.finish(c.job_id, c.token, 'completed', '{"x": "soon"}') from qwf.claim('cpu', 'w', 9) c
where c.node_id = 's/a';
select is((select last_error from qwf.jobs where run_id = qwf_test.run() and node_id = 's/b'),
  'QW004: delay is "soon", neither a duration nor a time within a year', 'it fails');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
