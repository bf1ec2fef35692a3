-- 16 tests
-- The picture is bad, and a person is being asked about it; another question is about the rest.
select qwf_test.set_now('2026-01-01 12:00Z');
select qwf_test.workflow('w', '[{"id": "gen", "inputs": {"prompt": {"$from": "prompt"}}},
  {"id": "other"}]');
select qwf.register_workflow('{"name": "v", "deadline": "1 h", "steps": [
  {"id": "s", "kind": "pipeline", "pipeline": "w"},
  {"id": "ask", "kind": "input", "widget": "confirm", "depends_on": ["s"], "expires": "10 min",
   "default": false},
  {"id": "paid", "kind": "input", "signal": "paid"},
  {"id": "ship", "node": "ship", "queue": "default", "depends_on": ["ask", "paid"]}]}');
select qwf.enqueue_run('v', '{"prompt": "a dog"}');
select throws_ok($$ select qwf.retry_run(qwf_test.run(), 's/gen') $$, 'QW002',
  'the run is not over', 'not while a node is about to run');
select qwf_test.attempt(n) from unnest(array['s/gen', 's/other']) n;
select is((select status::text from qwf.runs), 'awaiting_input', 'both questions are asked');
select throws_ok($$ select qwf.retry_run(qwf_test.run()) $$, 'QW002', 'the run is not over',
  'a node has to be named');
select qwf_test.travel('5 min');
select results_eq($$ select node_id, verdict, because
    from qwf.retry_plan(qwf_test.run(), 's/gen', context => '{"prompt": "a cat"}') $$, $$ values
  ('s/gen', 'runs again', 'it was named'), ('s/other', 'reused', null),
  ('paid', 'reused', null), ('ask', 'runs again', 's/gen runs again'),
  ('ship', 'runs again', 'ask runs again') $$, 'the plan');
select is(qwf.retry_run(qwf_test.run(), 's/gen', context => '{"prompt": "a cat"}'), 3,
  'it goes on');
select results_eq($$ select node_id, status::text from qwf.jobs order by node_idx $$, $$ values
  ('s/gen', 'queued'), ('s/other', 'completed'), ('paid', 'awaiting_input'), ('ask', 'blocked'),
  ('ship', 'blocked') $$, 'what is right is kept, the other question stays open');
select is_empty('select * from qwf.check_invariants()', 'nothing is broken');
select throws_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', 'true') $$, 'QW002', null,
  'the withdrawn question takes no answer');
select qwf_test.travel('6 min');
select is(_qwf.expire_inputs(), 0, 'and does not expire');
select is((select c.inputs from qwf.claim(
  (select j.queue from qwf.jobs j where j.node_id = 's/gen'), 'w') c), '{"prompt": "a cat"}',
  'the node runs again with the new value');
select qwf.signal('paid', 'true');
select qwf_test.report('s/gen');
select is((select status::text from qwf.runs), 'awaiting_input', 'the question is asked again');
select is((select deadline_at from qwf.runs), '2026-01-01 13:00Z', 'the deadline stays');
select is_empty('select * from qwf.check_invariants()', 'nothing is broken');
select qwf.submit_input(qwf_test.run(), 'ask', 'true');
select qwf_test.attempt('ship');
select is((select status::text from qwf.runs), 'completed', 'the answer ends the run');
select is((select array_agg(kind order by id) from _qwf.event_log
    where kind in ('run_ended', 'retried', 'cancelled')), '{retried,run_ended}',
  'it was retried, and ended once');
select is_empty('select * from qwf.check_invariants()', 'nothing is broken');
